/** `espalier folder export`: all that is inside a folder, in a form that import reads. */

import { UsageError } from '../../config/start-error.ts';
import { wholeNumber } from '../../config/setting-values.ts';
import { command } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { createLines, print } from '../output.ts';
import { count } from '../progress.ts';
import { escapeControls } from '../escape-text.ts';
import { writers } from './entry-formats.ts';
import { folderWord } from '../resolve-names.ts';
import { findFolder } from './folder-path.ts';
import type { Entry } from './import-call.ts';
import { formats } from './import-source.ts';
import { OutputFile } from './output-file.ts';

const query = `query($id: ID!, $depth: Int) {
  exportFolders(id: $id, depth: $depth) { path title icon description properties } }`;
const patienceSeconds = 600;

export const exportFolders = command({
  words: [{ ...folderWord, isOptional: true }],
  options: {
    format: { value: 'format', completes: formats, about: `${formats.join(', ')}; json, unless given` },
    output: {
      short: 'o',
      value: 'path',
      completes: 'file',
      about: 'Into this file; it appears when it is whole',
    },
    force: { short: 'f', about: 'Replace the file if it is there' },
    depth: { value: 'number', about: 'Only so many levels; 1 is what is right inside' },
  },
  settings: connectionSettings,
  details: `What is inside the folder, not itself; without a path, the whole tree. All of it is of one moment. Of what you may
only pass through there is the name.`,
  async run({ words, options, flags }) {
    const format = formats.find((each) => each === (options.format ?? 'json'));
    if (!format) throw new UsageError(`--format takes ${formats.join(', ')}.`);
    const depth = options.depth === undefined ? undefined : wholeNumber(1, 1_000)(options.depth);
    if (options.depth !== undefined && depth === undefined) {
      throw new UsageError('--depth takes a whole number from 1 on.');
    }
    const isFile = options.output !== undefined && options.output !== '-';
    const file = isFile ? await OutputFile.open(options.output, { mayReplace: options.force }) : undefined;
    try {
      await withConnection({ flags }, async ({ client, signal }) => {
        const { id, path } = await findFolder(client, words[0]);
        const { exportFolders: entries } = await client.query<{ exportFolders: Entry[] }, object>(
          query,
          { id, depth },
          { signal, timeoutSeconds: patienceSeconds },
        );
        const lines = createLines(file && ((text) => file.write(text)));
        for (const text of writers[format](entries)) {
          signal.throwIfAborted();
          await lines.add(text);
        }
        await lines.end();
        await file?.finish();
        if (file) {
          await print(
            `Exported ${count(entries.length)} folders of ${escapeControls(path)} into ${escapeControls(options.output!)}.`,
          );
        }
      });
    } finally {
      await file?.discard();
    }
  },
});
