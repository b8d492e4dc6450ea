/**
 * `npm run check:code`: reports the errors of `tsc --noEmit` and `eslint .` from one process. Both need the types of
 * the whole repository, so computing them once saves time.
 */

import { join } from 'node:path';
import { ESLint } from 'eslint';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
/** Files or folders to lint. The type check always covers the whole repository. */
const lintPaths = process.argv.slice(2);
const projects = ['tsconfig.json', 'console/tsconfig.json'];

const programs = projects.map(createProgram);
const mistakes = programs.flatMap((program) => ts.getPreEmitDiagnostics(program));
if (mistakes.length > 0) {
  console.log(ts.formatDiagnosticsWithColorAndContext(mistakes, hostOf()));
  process.exitCode = 1;
}

const eslint = new ESLint({
  cwd: root,
  overrideConfig: {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { programs, projectService: false } },
  },
});
const results = await eslint.lintFiles(lintPaths.length > 0 ? lintPaths : ['.']);
const formatter = await eslint.loadFormatter('stylish');
const text = await formatter.format(results, {});
if (text) console.log(text);
if (results.some(({ errorCount }) => errorCount > 0)) process.exitCode = 1;

/** Creates the program that `tsc --project` would create. */
function createProgram(project: string): ts.Program {
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic(mistake) {
      throw new Error(ts.formatDiagnostic(mistake, hostOf()));
    },
  };
  const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(join(root, project), {}, host)!;
  if (errors.length > 0) throw new Error(ts.formatDiagnostics(errors, hostOf()));
  return ts.createProgram(fileNames, options);
}

function hostOf(): ts.FormatDiagnosticsHost {
  return {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  };
}
