/** `espalier doctor`: checks everything that an installation needs, and reports problems with their solution. */

import { styleText } from 'node:util';
import { systemClock } from '../../clock.ts';
import {
  readCommandLineSettings,
  readProcessSettings,
  settingsTable,
  unknownSettingWarnings,
} from '../../config/config.ts';
import { Refusal } from '../../refusal.ts';
import { commandLineSettings } from '../../config/start-settings.ts';
import { origins } from '../../config/setting-values.ts';
import { StartError, UsageError } from '../../config/start-error.ts';
import { command, json, type Given } from '../command.ts';
import { exitCodes, ExitError } from '../failures.ts';
import { print, printJson, escapeControls as spelled } from '../output.ts';
import { checkBackups } from './backups-check.ts';
import { checkClock } from './clock-check.ts';
import { checkCors } from './cors-check.ts';
import { checkDatabase } from './database-check.ts';
import { examine } from './check-context.ts';
import { checkFiles } from './files-check.ts';
import { checkInstallation } from './installation-check.ts';
import { problem, skipped, warning, type Finding, type State } from './finding.ts';
import { checkServer } from './server-check.ts';
import { checkSettings, unusable } from './settings-check.ts';
import { checkTls } from './tls-check.ts';
import { checkWatching } from './telemetry-check.ts';

export const doctor = command({
  options: {
    origin: {
      value: 'origin',
      about: 'Check that web pages of this origin may call, such as https://app.example.com',
    },
    json,
  },
  settings: [commandLineSettings.url, ...Object.values(settingsTable)],
  details: `Checks the settings, the clock, the database, room and file modes, the folder of scheduled backups, certificates, the port of the
metrics, the collector of the traces, and a server if one answers: the one of --url, through whatever proxy is in front of it, or
the one that these settings would start. Changes nothing.

Exits with 1 if there is a problem; warnings are none. Run it where the server runs, as its user and with its settings.`,
  async run({ options, flags }) {
    const found: (Finding & { readonly subject: string })[] = [];
    let shown: string | undefined;
    for await (const [subject, finding] of allFindings(flags, originOf(options.origin))) {
      found.push({ subject, ...finding });
      if (options.json) continue;
      if (subject !== shown) await print(`${shown === undefined ? '' : '\n'}${subject}`);
      shown = subject;
      await print(lineOf(finding));
    }
    const problems = countOf(found, 'problem');
    const warnings = countOf(found, 'warning');
    await (options.json
      ? printJson({ problems, warnings, findings: found })
      : print(`\nProblems: ${problems}, warnings: ${warnings}.`));
    if (problems > 0) throw new ExitError(exitCodes.failed.code);
  },
});

type Subject = readonly [title: string, findings: AsyncIterable<Finding> | Iterable<Finding>];

async function* allFindings(
  flags: Given['flags'],
  origin: string | undefined,
): AsyncIterable<readonly [subject: string, finding: Finding]> {
  let read: ReturnType<typeof readProcessSettings>;
  try {
    read = readProcessSettings(flags);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    for (const line of error.message.split('\n')) yield ['Settings', unusable(line)];
    for (const text of unknownSettingWarnings()) yield ['Settings', warning(text)];
    yield ['Everything else', skipped('It is looked at once the settings can be used.')];
    return;
  }
  const { settings, warnings } = read;
  const examined = examine({ clock: systemClock, flags, settings, url: readCommandLineSettings(flags).url });
  const subjects: readonly Subject[] = [
    ['Settings', checkSettings(settings, warnings)],
    ['Clock', checkClock(examined)],
    ['Database', checkDatabase(examined)],
    ['Disk and files', checkFiles(examined)],
    ['Backups', checkBackups(examined)],
    ['TLS', checkTls(examined)],
    ['Metrics and traces', checkWatching(examined)],
    ['Server', checkServer(examined)],
    ['Server', checkInstallation(examined)],
    ...(origin === undefined ? [] : [['Web pages', checkCors(examined, origin)] as const]),
  ];
  for (const [subject, findings] of subjects) {
    try {
      for await (const finding of findings) yield [subject, finding];
    } catch (error) {
      yield [subject, problem(whyStopped(error))];
    }
  }
}

/** What stops a check is a finding, too; a bug is not. */
function whyStopped(error: unknown): string {
  const isExpected =
    error instanceof StartError ||
    error instanceof Refusal ||
    typeof (error as { code?: unknown }).code === 'string';
  if (!isExpected && !(error instanceof Error && error.cause !== undefined)) throw error;
  return (error as Error).message;
}

function originOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (given !== '*' && origins(given)?.length === 1) return given;
  throw new UsageError('--origin takes the origin of a page, such as https://app.example.com.');
}

const colours: Readonly<Record<State, 'green' | 'gray' | 'yellow' | 'red'>> = {
  ok: 'green',
  skipped: 'gray',
  warning: 'yellow',
  problem: 'red',
};
const stateWidth = 9;

/** In colour on a terminal, unless NO_COLOR is set. */
function lineOf({ state, text, fix }: Finding): string {
  const word = styleText(colours[state], state.padEnd(stateWidth), { stream: process.stdout });
  return `  ${word}${spelled(text)}${fix === undefined ? '' : `\n${' '.repeat(2 + stateWidth)}Fix: ${fix}`}`;
}

function countOf(found: readonly Finding[], state: State): number {
  return found.filter((each) => each.state === state).length;
}
