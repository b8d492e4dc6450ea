/** `espalier doctor`: checks everything that an installation needs, and reports problems with their solution. */

import { styleText } from 'node:util';
import { systemClock } from '../../clock.ts';
import { readCommandLineSettings } from '../../config/command-line.ts';
import { readProcessSettings, findUnknownSettingWarnings } from '../../config/config.ts';
import { settingsTable } from '../../config/settings-table.ts';
import { Refusal } from '../../refusal.ts';
import { commandLineSettings } from '../../config/command-line.ts';
import { origins } from '../../config/setting.ts';
import { StartError, invalidValue } from '../../config/start-error.ts';
import { command, json, type SettingFlags } from '../command.ts';
import { exitCodes, ExitError } from '../failures.ts';
import { escapeControls, print, printJson } from '../terminal/output.ts';
import { checkApiKey } from './api-key-checks.ts';
import { createCheckContext, problem, skipped, warning, type Finding, type State } from './check-context.ts';
import { checkDatabase, checkInstallation } from './database-checks.ts';
import { checkBackups, checkFiles } from './file-checks.ts';
import { checkClock, checkSettings, checkTelemetry, checkTls, invalidSetting } from './machine-checks.ts';
import { checkSingleSignOn } from './sign-in-checks.ts';
import { checkCors, checkServer } from './server-checks.ts';

export const doctor = command({
  about: 'Check settings, clock, database, files, TLS and a running server, and suggest fixes',
  options: {
    origin: {
      value: 'origin',
      about: 'Check that web pages of this origin may call the server, for example https://app.example.com',
    },
    json,
  },
  settings: [
    { ...commandLineSettings.url, summary: 'The server to check' },
    { ...commandLineSettings.apiKey, summary: 'Check the API key in this file' },
  ],
  hiddenSettings: Object.values(settingsTable),
  printsWarnings: true,
  details: `Checks the settings, the clock, the database, disk space, file modes, scheduled backups, certificates, the metrics port, the trace
collector, the provider of single sign-on and a running server. With an API key, also checks whether the server accepts the key and
when the key expires. Changes nothing. Does not use the stored login.

Without --url, checks the server that runs with these settings. With --url, checks the server at this URL, including its proxies.

Exits with 1 if there is a problem, but not for a warning. Run the command on the machine of the server, as the user of the server
and with the same settings. Also accepts every setting of the server as an option; run 'espalier serve --help' for a list.`,
  examples: [
    'espalier doctor',
    'espalier doctor --url https://example.com --origin https://app.example.com',
    'espalier doctor --database-url sqlite:/var/lib/espalier/espalier.db --json',
  ],
  async run({ options, flags }) {
    const found: (Finding & { readonly subject: string })[] = [];
    let printedSubject: string | undefined;
    for await (const [subject, finding] of allFindings(flags, originOf(options.origin))) {
      found.push({ subject, ...finding });
      if (options.json) continue;
      if (subject !== printedSubject) await print(`${printedSubject === undefined ? '' : '\n'}${subject}`);
      printedSubject = subject;
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
  flags: SettingFlags,
  origin: string | undefined,
): AsyncIterable<readonly [subject: string, finding: Finding]> {
  let read: ReturnType<typeof readProcessSettings>;
  try {
    read = readProcessSettings(flags);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    for (const line of error.message.split('\n')) yield ['Settings', invalidSetting(line)];
    for (const text of findUnknownSettingWarnings()) yield ['Settings', warning(text)];
    yield ['Everything else', skipped('Not checked until the settings are valid.')];
    return;
  }
  const { settings, warnings } = read;
  const context = createCheckContext({
    clock: systemClock,
    flags,
    settings,
    url: readCommandLineSettings(flags).url,
  });
  const subjects: readonly Subject[] = [
    ['Settings', checkSettings(settings, warnings)],
    ['Clock', checkClock(context)],
    ['Database', checkDatabase(context)],
    ['Disk and files', checkFiles(context)],
    ['Backups', checkBackups(context)],
    ['TLS', checkTls(context)],
    ['Metrics and traces', checkTelemetry(context)],
    ['Single sign-on', checkSingleSignOn(context)],
    ['Server', checkServer(context)],
    ['Server', checkInstallation(context)],
    ['API key', checkApiKey(context)],
    ...(origin === undefined ? [] : [['Web pages', checkCors(context, origin)] as const]),
  ];
  for (const [subject, findings] of subjects) {
    try {
      for await (const finding of findings) yield [subject, finding];
    } catch (error) {
      yield [subject, problem(whyStopped(error))];
    }
  }
}

/** Returns the message of an expected error, which becomes a finding. Throws any other error again. */
function whyStopped(error: unknown): string {
  const isExpected =
    error instanceof StartError ||
    error instanceof Refusal ||
    typeof (error as { code?: unknown }).code === 'string';
  if (!isExpected && !(error instanceof Error && error.cause !== undefined)) throw error;
  return (error as Error).message;
}

function originOf(input: string | undefined): string | undefined {
  if (input === undefined) return undefined;
  if (input !== '*' && origins.parse(input)?.length === 1) return input;
  throw invalidValue('--origin', 'the origin of a page, such as https://app.example.com', input);
}

const colors: Readonly<Record<State, 'green' | 'gray' | 'yellow' | 'red'>> = {
  ok: 'green',
  skipped: 'gray',
  warning: 'yellow',
  problem: 'red',
};

const stateWidth = 9;

/** In color on a terminal, unless NO_COLOR is set. */
function lineOf({ state, text, fix }: Finding): string {
  const word = styleText(colors[state], state.padEnd(stateWidth), { stream: process.stdout });
  return `  ${word}${escapeControls(text)}${fix === undefined ? '' : `\n${' '.repeat(2 + stateWidth)}Fix: ${fix}`}`;
}

function countOf(found: readonly Finding[], state: State): number {
  return found.filter((each) => each.state === state).length;
}
