/** `espalier folder update`: changes the name, the texts and the properties of a folder. */

import { EspalierError, type Client, type FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting.ts';
import { UsageError } from '../../config/start-error.ts';
import { apiCommand } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import { json } from '../command.ts';
import { escapeControls } from '../terminal/output.ts';
import { findFolder } from './folder-path.ts';
import { textOptions, toAssignments } from './folder-options.ts';

export const update = apiCommand({
  about: 'Change the name, title, icon, description and properties of a folder',
  aliases: ['set'],
  words: [folderWord],
  options: {
    name: { value: 'name', about: 'The new name' },
    ...textOptions,
    noTitle: { about: 'Remove the title', conflicts: ['title'] },
    noIcon: { about: 'Remove the icon', conflicts: ['icon'] },
    noDescription: { about: 'Remove the description', conflicts: ['description'] },
    unsetProperty: { value: 'name', isRepeatable: true, about: 'Remove a property' },
    noProperties: { about: 'Remove all properties, then set those of --property' },
    expectVersion: {
      value: 'number',
      about: 'Fail unless the folder has this version, which espalier folder show prints',
      kind: wholeNumber(1, 2 ** 31 - 1),
    },
    json,
  },
  details: 'Changes only the specified fields and properties.',
  examples: [
    'espalier folder update /Places/Harbour --title "Harbour campus" --property floors=3',
    'espalier folder update /Places/Harbour --no-icon --unset-property floors --expect-version 4',
  ],
  validate: ({ options }) => void changesOf(options),
  async run({ client }, { words, options }) {
    const folder = await findFolder(client, words[0]);
    const changed = await change(client, folder, changesOf(options));
    const path = escapeControls(changed.path);
    const text =
      changed.version === folder.version
        ? `${path} is unchanged.`
        : `Changed ${path}; its version is ${changed.version}.`;
    return { data: changed, text };
  },
});

interface ChangeInput {
  readonly name: string | undefined;
  readonly title: string | undefined;
  readonly icon: string | undefined;
  readonly description: string | undefined;
  readonly noTitle: boolean;
  readonly noIcon: boolean;
  readonly noDescription: boolean;
  readonly property: readonly string[];
  readonly unsetProperty: readonly string[];
  readonly noProperties: boolean;
  readonly expectVersion: number | undefined;
}

type Properties = Readonly<Record<string, unknown>>;

interface Changes {
  readonly texts: Readonly<Record<string, string | null>>;
  readonly properties: ((before: Properties) => Properties) | undefined;
  readonly expectedVersion: number | undefined;
}

function changesOf(input: ChangeInput): Changes {
  const texts = Object.fromEntries([
    ...(input.name === undefined ? [] : [['name', input.name]]),
    ...textOf('title', input.title, input.noTitle),
    ...textOf('icon', input.icon, input.noIcon),
    ...textOf('description', input.description, input.noDescription),
  ]) as Changes['texts'];
  const added = toAssignments(input.property, 'property');
  const removed = new Set(input.unsetProperty);
  const isAboutProperties = input.noProperties || input.property.length + removed.size > 0;
  const properties = (before: Properties) =>
    Object.fromEntries([
      ...Object.entries(before).filter(([name]) => !input.noProperties && !removed.has(name)),
      ...Object.entries(added),
    ]);
  if (Object.keys(texts).length === 0 && !isAboutProperties) {
    throw new UsageError('There is nothing to change. Run espalier folder update --help for details.');
  }
  return {
    texts,
    properties: isAboutProperties ? properties : undefined,
    expectedVersion: input.expectVersion,
  };
}

function textOf(
  name: string,
  text: string | undefined,
  isNone: boolean,
): readonly (readonly [string, string | null])[] {
  if (isNone) return [[name, null]];
  return text === undefined ? [] : [[name, text]];
}

/** Properties are written as a whole, so they are read again if another client has changed them. */
async function change(
  client: Client,
  folder: FolderDetails,
  changes: Changes,
  triesLeft = 5,
): Promise<FolderDetails> {
  const { texts, properties, expectedVersion } = changes;
  const expected = expectedVersion ?? (properties ? folder.version : undefined);
  try {
    return await client.folders.update(folder.id, {
      ...texts,
      ...(properties && { properties: properties(folder.properties) }),
      ...(expected !== undefined && { expectedVersion: expected }),
    });
  } catch (error) {
    const isStale =
      error instanceof EspalierError && error.code === 'CONFLICT' && expectedVersion === undefined;
    if (!isStale || triesLeft === 0) throw error;
    const latest = await client.folders.byId(folder.id);
    // A conflict with another cause: the name is in use.
    if (!latest || latest.version === folder.version) throw error;
    return change(client, latest, changes, triesLeft - 1);
  }
}
