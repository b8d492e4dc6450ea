/** Reads and changes the text of CHANGELOG.md for a release. */

const heading = '## Unreleased\n';

/** Returns the section of unreleased changes without its heading. */
export function readUnreleased(changelog: string): string {
  const start = changelog.indexOf(heading);
  if (start < 0) throw new Error('CHANGELOG.md has no section "## Unreleased".');
  const from = start + heading.length;
  const next = changelog.indexOf('\n## ', from);
  return changelog.slice(from, next < 0 ? undefined : next).trim();
}

/** Returns a part of the unreleased changes, for example that of `### Breaking`. */
export function readUnreleasedPart(changelog: string, title: string): string {
  const [, part = ''] = readUnreleased(`${changelog}\n`).split(new RegExp(`^### ${title}$`, 'm'));
  return part.split(/^### /m)[0]!.trim();
}

/** Moves the unreleased changes into a section of the version, and leaves an empty unreleased section. */
export function addRelease(changelog: string, version: string, date: string): string {
  if (readUnreleased(changelog) === '') throw new Error('CHANGELOG.md has nothing under "## Unreleased".');
  return changelog.replace(heading, `${heading}\n## ${version} - ${date}\n`);
}
