/** `espalier folder export`: writes the contents of a folder in a format that import reads. */

import type { PathToImport } from '@espalier/client';
import { fileFormats, formatFolders } from '@espalier/client/files';
import { UsageError } from '../../config/start-error.ts';
import { wholeNumber } from '../../config/setting.ts';
import { command } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { createLines, print } from '../terminal/output.ts';
import { countFolders } from '../terminal/progress.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { folderWord } from '../api/resolve-names.ts';
import { findFolder } from './folder-path.ts';
import { OutputFile } from './output-file.ts';

const query = `query($id: ID!, $depth: Int) {
  exportFolders(id: $id, depth: $depth) { path title icon description properties } }`;
const exportTimeoutSeconds = 600;

export const exportFolders = command({
  words: [{ ...folderWord, isOptional: true }],
  options: {
    format: { value: 'format', completes: fileFormats, about: `${fileFormats.join(', ')}; default: json` },
    output: {
      short: 'o',
      value: 'path',
      completes: 'file',
      about: 'Write to this file, which appears when it is complete',
    },
    force: { short: 'f', about: 'Replace an existing file' },
    depth: { value: 'number', about: 'Limit the number of levels; 1 is only the direct subfolders' },
  },
  settings: connectionSettings,
  details: `Exports the folders inside the folder, but not the folder itself. Without a path, exports the whole tree. The export is one
consistent snapshot. A folder that you see only because it contains a visible folder is exported with its name only.`,
  async run({ words, options, flags }) {
    const format = fileFormats.find((each) => each === (options.format ?? 'json'));
    if (!format) throw new UsageError(`--format takes ${fileFormats.join(', ')}.`);
    const depth = options.depth === undefined ? undefined : wholeNumber(1, 1_000).parse(options.depth);
    if (options.depth !== undefined && depth === undefined) {
      throw new UsageError('--depth takes a whole number from 1 to 1000.');
    }
    const isFile = options.output !== undefined && options.output !== '-';
    const file = isFile ? await OutputFile.open(options.output, { mayReplace: options.force }) : undefined;
    try {
      await withConnection({ flags }, async ({ client, signal }) => {
        const { id, path } = await findFolder(client, words[0]);
        const { exportFolders: entries } = await client.query<{ exportFolders: PathToImport[] }, object>(
          query,
          { id, depth },
          { signal, timeoutSeconds: exportTimeoutSeconds },
        );
        const lines = createLines(file && ((text) => file.write(text)));
        for (const text of formatFolders(format, entries)) {
          signal.throwIfAborted();
          await lines.add(text);
        }
        await lines.end();
        await file?.finish();
        if (file) {
          await print(
            `Exported ${countFolders(entries.length)} from ${escapeControls(path)} to ${escapeControls(options.output!)}.`,
          );
        }
      });
    } finally {
      await file?.discard();
    }
  },
});
