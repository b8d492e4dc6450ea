/** `espalier folder update`: changes the name, the texts and the properties of a folder. */

import type { Client, FolderChanges, FolderDetails } from '@espalier/client';
import { isClientError } from '../failures.ts';
import { wholeNumber } from '../../config/setting.ts';
import { UsageError } from '../../config/start-error.ts';
import { apiCommand } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import type { Options, Values } from '../command.ts';
import { escaped } from '../terminal/output.ts';
import { findFolder } from './folder-path.ts';
import { textOptions, toAssignments } from './folder-options.ts';

const options = {
  name: { value: 'name', about: 'The new name' },
  ...textOptions,
  noTitle: { about: 'Remove the title', conflicts: ['title'] },
  noIcon: { about: 'Remove the icon', conflicts: ['icon'] },
  noDescription: { about: 'Remove the description', conflicts: ['description'] },
  unsetProperty: { value: 'name', isRepeatable: true, about: 'Remove a property' },
  noProperties: { about: 'Remove all properties, then set the properties in --property' },
  expectVersion: {
    value: 'number',
    about: "Fail unless the folder has this version; 'espalier folder show' prints it",
    kind: wholeNumber(1, 2 ** 31 - 1),
  },
} as const satisfies Options;

export const update = apiCommand({
  about: 'Change the name, title, icon, description and properties of a folder',
  aliases: ['set'],
  words: [folderWord],
  options,
  details: 'Changes only the specified fields and properties.',
  examples: [
    'espalier folder update /Places/Harbour --title "Harbour campus" --property floors=3',
    'espalier folder update /Places/Harbour --no-icon --unset-property floors --expect-version 4',
  ],
  validate: ({ options: input }) => void changesOf(input),
  async run({ client }, { words, options: input }) {
    const folder = await findFolder(client, words[0]);
    const changed = await change(client, folder, changesOf(input));
    const text =
      changed.version === folder.version
        ? escaped`${changed.path} is unchanged.`
        : escaped`Changed ${changed.path}; its version is ${changed.version}.`;
    return { data: changed, text };
  },
});

interface Changes {
  readonly fields: FolderChanges;
  /** Undefined to keep the properties. */
  readonly toProperties: ((before: FolderDetails['properties']) => FolderDetails['properties']) | undefined;
}

function changesOf(input: Values<typeof options>): Changes {
  const { name, noProperties, expectVersion: expectedVersion } = input;
  const fields = {
    name,
    title: input.noTitle ? null : input.title,
    icon: input.noIcon ? null : input.icon,
    description: input.noDescription ? null : input.description,
  };
  const added = toAssignments(input.property, 'property');
  const removed = new Set(input.unsetProperty);
  const toProperties = (before: FolderDetails['properties']) => {
    const kept = Object.entries(before).filter(([key]) => !noProperties && !removed.has(key));
    return { ...Object.fromEntries(kept), ...added };
  };
  const isAboutProperties = noProperties || input.property.length + removed.size > 0;
  if (!isAboutProperties && Object.values(fields).every((value) => value === undefined)) {
    throw new UsageError("There is nothing to change. Run 'espalier folder update --help' for details.");
  }
  return {
    fields: { ...fields, expectedVersion },
    toProperties: isAboutProperties ? toProperties : undefined,
  };
}

/** An update replaces all properties, so they are read again if another client has changed them. */
async function change(
  client: Client,
  folder: FolderDetails,
  changes: Changes,
  triesLeft = 5,
): Promise<FolderDetails> {
  const { fields, toProperties } = changes;
  const read = toProperties && {
    properties: toProperties(folder.properties),
    expectedVersion: fields.expectedVersion ?? folder.version,
  };
  try {
    return await client.folders.update(folder.id, { ...fields, ...read });
  } catch (error) {
    const isConflict = isClientError(error, 'CONFLICT');
    if (!isConflict || fields.expectedVersion !== undefined || triesLeft === 0) throw error;
    const latest = await client.folders.byId(folder.id);
    // A conflict with another cause: the name is in use.
    if (!latest || latest.version === folder.version) throw error;
    return change(client, latest, changes, triesLeft - 1);
  }
}
