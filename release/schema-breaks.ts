/**
 * `npm run check:schema`: whether a client of the last release would be broken by the schema as it is. What breaks on
 * purpose is told in CHANGELOG.md, line by line. With --released the schema as it is becomes that of the last release.
 */

import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, findBreakingChanges } from 'graphql';
import { unreleasedPart } from './changelog.ts';

/** In the words of graphql-js, which CHANGELOG.md repeats if it is meant. */
export function schemaBreaks(released: string, current: string): string[] {
  return findBreakingChanges(buildSchema(released), buildSchema(current)).map(
    ({ description }) => description,
  );
}

/** Those that nobody was told of. */
export function untoldBreaks(released: string, current: string, changelog: string): string[] {
  const told = unreleasedPart(changelog, 'Breaking').replaceAll(/\s+/g, ' ');
  return schemaBreaks(released, current).filter((description) => !told.includes(description));
}

const whatToDo = `
Clients of the last release use that. Keep it, mark it as deprecated with what to use instead, and add the new beside it.
If it has to break, the next release is a major one (before 1.0.0, a minor one): repeat each line above, word for word, in
CHANGELOG.md under "## Unreleased", "### Breaking", with what clients do about it.
`;

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const released = join(root, 'contract/released-schema.graphql');
  const current = join(root, 'contract/schema.graphql');
  if (process.argv.includes('--released')) {
    copyFileSync(current, released);
  } else {
    const [before, now, changelog] = [released, current, join(root, 'CHANGELOG.md')].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const breaks = untoldBreaks(before!, now!, changelog!);
    if (breaks.length > 0) {
      console.error(`The schema breaks clients of the last release:\n`);
      for (const description of breaks) console.error(`- ${description}`);
      console.error(whatToDo);
      process.exitCode = 1;
    }
  }
}
