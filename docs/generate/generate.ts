/** Writes the generated pages. With --check, it changes nothing, and fails if a page differs from the code. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { formatPage } from './markdown.ts';
import { generatedPages } from './generated-pages.ts';

const isCheck = process.argv.includes('--check');
for (const [path, createPage] of Object.entries(generatedPages)) {
  const file = new URL(`../../${path}`, import.meta.url);
  const text = await formatPage(path, await createPage());
  if (!isCheck) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${path} differs from the code. Run: npm run generate`);
    process.exitCode = 1;
  }
}
