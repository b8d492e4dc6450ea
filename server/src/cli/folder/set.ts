/** `espalier folder set`: changes the name, the texts and the properties of a folder. */

import { EspalierError, type Client, type FolderDetails } from '@espalier/client';
import { wholeNumber } from '../../config/setting-values.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { escapeControls } from '../escape-text.ts';
import { folderWord } from '../resolve-names.ts';
import { findFolder } from './folder-path.ts';
import { textOptions, toAssignments } from './folder-options.ts';

export const set = command({
  words: [folderWord],
  options: {
    name: { value: 'name', about: 'Another name, at the same place' },
    ...textOptions,
    noTitle: { about: 'Take the title away' },
    noIcon: { about: 'Take the icon away' },
    noDescription: { about: 'Take the description away' },
    unsetProperty: { value: 'name', isRepeatable: true, about: 'Take a property away' },
    noProperties: { about: 'Take all properties away; those given by --property are set' },
    expectVersion: {
      value: 'number',
      about: 'Only if the folder has this version, as `folder show` tells it',
    },
    json,
  },
  settings: connectionSettings,
  details: 'What is not given stays as it is.',
  async run({ words, options, flags }) {
    const changes = changesOf(options);
    await withConnection({ flags }, async ({ client }) => {
      const folder = await findFolder(client, words[0]);
      const changed = await change(client, folder, changes);
      if (options.json) await printJson(changed);
      else if (changed.version === folder.version)
        await print(`${escapeControls(changed.path)} is as it was.`);
      else await print(`Changed ${escapeControls(changed.path)}; its version is ${changed.version}.`);
    });
  },
});

interface Given {
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
  readonly expectVersion: string | undefined;
}

type Properties = Readonly<Record<string, unknown>>;

interface Changes {
  readonly texts: Readonly<Record<string, string | null>>;
  readonly properties: ((before: Properties) => Properties) | undefined;
  readonly expectedVersion: number | undefined;
}

export function changesOf(given: Given): Changes {
  const texts = Object.fromEntries([
    ...(given.name === undefined ? [] : [['name', given.name]]),
    ...textOf('title', given.title, given.noTitle),
    ...textOf('icon', given.icon, given.noIcon),
    ...textOf('description', given.description, given.noDescription),
  ]) as Changes['texts'];
  const added = toAssignments(given.property, 'property');
  const removed = new Set(given.unsetProperty);
  const isAboutProperties = given.noProperties || given.property.length + removed.size > 0;
  const properties = (before: Properties) =>
    Object.fromEntries([
      ...Object.entries(before).filter(([name]) => !given.noProperties && !removed.has(name)),
      ...Object.entries(added),
    ]);
  const version =
    given.expectVersion === undefined ? undefined : wholeNumber(1, 2 ** 31 - 1)(given.expectVersion);
  if (given.expectVersion !== undefined && version === undefined) {
    throw new UsageError('--expect-version takes a whole number.');
  }
  if (Object.keys(texts).length === 0 && !isAboutProperties) {
    throw new UsageError('Nothing is given to change. espalier folder set --help tells more.');
  }
  return { texts, properties: isAboutProperties ? properties : undefined, expectedVersion: version };
}

function textOf(
  name: string,
  text: string | undefined,
  isNone: boolean,
): readonly (readonly [string, string | null])[] {
  if (isNone && text !== undefined) throw new UsageError(`--${name} and --no-${name} are both given.`);
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
    const isOutdated =
      error instanceof EspalierError && error.code === 'CONFLICT' && expectedVersion === undefined;
    if (!isOutdated || triesLeft === 0) throw error;
    const latest = await client.folders.byId(folder.id);
    // The conflict is another one: a name that is taken.
    if (!latest || latest.version === folder.version) throw error;
    return change(client, latest, changes, triesLeft - 1);
  }
}
