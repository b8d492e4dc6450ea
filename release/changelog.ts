/** CHANGELOG.md as a release reads and changes it. Knows nothing of files. */

const head = '## Unreleased\n';

/** What is not released yet, without its heading. */
export function unreleased(changelog: string): string {
  const start = changelog.indexOf(head);
  if (start < 0) throw new Error('CHANGELOG.md has no section "## Unreleased".');
  const from = start + head.length;
  const next = changelog.indexOf('\n## ', from);
  return changelog.slice(from, next < 0 ? undefined : next).trim();
}

/** The lines of one of its parts: `### Breaking`. */
export function unreleasedPart(changelog: string, title: string): string {
  const [, part = ''] = unreleased(`${changelog}\n`).split(new RegExp(`^### ${title}$`, 'm'));
  return part.split(/^### /m)[0]!.trim();
}

/** With all that was not released under the version, and an empty section above it. */
export function withRelease(changelog: string, version: string, date: string): string {
  if (unreleased(changelog) === '') throw new Error('CHANGELOG.md has nothing under "## Unreleased".');
  return changelog.replace(head, `${head}\n## ${version} - ${date}\n`);
}
