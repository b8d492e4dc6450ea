/** `espalier folder export`: writes the contents of a folder in a format that import reads. */

import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { wholeNumber } from '../../config/setting.ts';
import { StartError, fileError } from '../../config/start-error.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import { command } from '../command.ts';
import { countFolders, createLines, escapeControls, escaped, print } from '../terminal/output.ts';
import { findFolder } from './folder-path.ts';
import { fileFormats, unknownFormatError } from './folder-options.ts';

export const exportFolders = command({
  about: 'Export the contents of a folder as JSON, CSV or NDJSON',
  words: [{ ...folderWord, isOptional: true }],
  options: {
    format: {
      value: 'format',
      choices: fileFormats,
      about: 'The format; the default depends on the extension of the file, and is json on standard output',
    },
    output: {
      short: 'o',
      value: 'path',
      completions: 'file',
      about: 'Write to this file, which appears only when the export is complete',
    },
    force: { short: 'f', about: 'Replace an existing file' },
    depth: {
      value: 'number',
      about: 'Limit the number of levels; 1 means only the direct subfolders',
      kind: wholeNumber(1, 1_000),
    },
  },
  settings: connectionSettings,
  details: `Exports the contents of the folder, without the folder itself. Without a path, exports the whole tree. The export is one
consistent snapshot. A folder that you see only because it contains a visible folder is exported with its name only. CSV output
puts an apostrophe before texts that a spreadsheet would treat as a formula. An import removes it.`,
  examples: ['espalier folder export /Places -o places.csv', 'espalier folder export > tree.json'],
  async run({ words, options, flags }) {
    const { fileFormatOf, formatFolders } = await import('@espalier/client/files');
    const { depth, output = '-' } = options;
    const format = options.format ?? (output === '-' ? 'json' : fileFormatOf(output));
    if (format === undefined) throw unknownFormatError(escapeControls(output));
    const exportTo = (to?: (text: string) => Promise<void>) =>
      withConnection(flags, async ({ client, signal }) => {
        const { id, path } = await findFolder(client, words[0]);
        const entries = await client.folders.export(id, { depth, signal });
        const lines = createLines(to);
        for (const text of formatFolders(format, entries)) {
          signal.throwIfAborted();
          await lines.add(text);
        }
        await lines.end();
        return escaped`Exported ${countFolders(entries.length)} from ${path} to ${output}.`;
      });
    if (output === '-') await exportTo();
    else await print(await writeFile(output, options.force, exportTo));
  },
});

/** Writes to a temporary file and renames it when it is complete. */
async function writeFile<T>(
  path: string,
  mayReplace: boolean,
  writeTo: (write: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isFile()) throw new StartError(escaped`${path} is not a file.`);
  if (there && !mayReplace)
    throw new StartError(escaped`${path} already exists. To replace it, use --force.`);
  const fail = (cause: unknown) => {
    throw fileError(escaped`Cannot write ${path}`, cause);
  };
  // Replaces the target of a link, not the link.
  const target = there ? await realpath(path) : path;
  const temporaryPath = `${target}.${process.pid}.new`;
  const handle = await open(temporaryPath, 'wx').catch(fail);
  try {
    const result = await writeTo((text) => handle.appendFile(text).catch(fail));
    await handle.sync().catch(fail);
    await handle.close().catch(fail);
    await rename(temporaryPath, target).catch(fail);
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    throw error;
  }
}
