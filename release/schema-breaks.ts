/**
 * `npm run check:schema`: fails if the current schema breaks clients of the last release, unless CHANGELOG.md announces the
 * break. With --released, it stores the current schema as the schema of the last release.
 */

import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, findBreakingChanges } from 'graphql';
import { readUnreleasedPart } from './changelog.ts';

/** Returns the descriptions of graphql-js, which CHANGELOG.md repeats for intended breaks. */
export function listSchemaBreaks(releasedSchema: string, currentSchema: string): string[] {
  return findBreakingChanges(buildSchema(releasedSchema), buildSchema(currentSchema)).map(
    ({ description }) => description,
  );
}

/** Returns the breaks that CHANGELOG.md does not announce. */
export function listUnannouncedBreaks(
  releasedSchema: string,
  currentSchema: string,
  changelog: string,
): string[] {
  const announcement = readUnreleasedPart(changelog, 'Breaking').replaceAll(/\s+/g, ' ');
  return listSchemaBreaks(releasedSchema, currentSchema).filter(
    (description) => !announcement.includes(description),
  );
}

const whatToDo = `
Clients of the last release use these parts of the schema. Keep them, deprecate them with a hint to the replacement, and add the
replacement. If a break is necessary, the next release must be a major one (before 1.0.0, a minor one). Repeat each line above, word
for word, in CHANGELOG.md under "## Unreleased", "### Breaking", and explain what clients must change.
`;

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const releasedFile = join(root, 'contract/released-schema.graphql');
  const currentFile = join(root, 'contract/schema.graphql');
  if (process.argv.includes('--released')) {
    copyFileSync(currentFile, releasedFile);
  } else {
    const [releasedSchema, currentSchema, changelog] = [
      releasedFile,
      currentFile,
      join(root, 'CHANGELOG.md'),
    ].map((file) => readFileSync(file, 'utf8'));
    const breaks = listUnannouncedBreaks(releasedSchema!, currentSchema!, changelog!);
    if (breaks.length > 0) {
      console.error(`The schema breaks clients of the last release:\n`);
      for (const description of breaks) console.error(`- ${description}`);
      console.error(whatToDo);
      process.exitCode = 1;
    }
  }
}
