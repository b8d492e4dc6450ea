/** The second factor of `espalier login`: asks for a code, or sets up an authenticator app if the server requires a second factor. */

import { styleText } from 'node:util';
import type { Client, CodeQuestion, Credentials, EspalierError, StartedEnrolment } from '@espalier/client';
import { readInputFile } from '../../config/read-setting.ts';
import { failure, isClientError } from '../failures.ts';
import { escaped, print } from '../terminal/output.ts';
import { askText } from '../terminal/prompts.ts';

interface CodeOptions {
  /** The file with the code; without it, the command asks. */
  readonly codeFile: string | undefined;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

export async function logInWithCode(
  client: Client,
  credentials: Credentials,
  { codeFile, signal }: CodeOptions,
): Promise<void> {
  const code = codeFile === undefined ? undefined : readInputFile('--code-file', codeFile);
  const askForCode = codeFile === undefined && process.stdin.isTTY ? askForSecondFactor : undefined;
  try {
    await client.login({ ...credentials, code }, { askForCode, signal });
  } catch (error) {
    if (isClientError(error, 'SECOND_FACTOR_REQUIRED') && !askForCode) throw noTerminalError(error);
    if (!isClientError(error, 'SECOND_FACTOR_ENROLMENT_REQUIRED')) throw error;
    await enrol(client, error, signal);
  }
}

function noTerminalError(cause: EspalierError): Error {
  const message =
    'The user has a second factor, and there is no terminal to ask for the code. Run the command in a terminal, or use --code-file.';
  return failure(cause.code, message, { cause });
}

function askForSecondFactor({ methods, wasWrong }: CodeQuestion): Promise<string> {
  const retry = wasWrong ? 'The code is wrong, too old or already used. Try again. ' : '';
  if (methods.includes('TOTP')) return askText(`${retry}Code of your authenticator app, or a recovery code`);
  if (methods.includes('RECOVERY_CODE')) {
    return askText(`${retry}Recovery code (your passkey works only in a browser)`);
  }
  const message =
    'Your second factor is a passkey, which works only in a browser. Set up an authenticator app in the web console, and log in with its code.';
  throw failure('SECOND_FACTOR_REQUIRED', message);
}

/** Sets up an authenticator app, and starts a session. */
async function enrol(client: Client, refusal: EspalierError, signal: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY) {
    const message =
      "The server requires a second factor of this user, and there is no terminal to set it up. Run 'espalier login' in a terminal, or sign in to the web console once.";
    throw failure(refusal.code, message, { cause: refusal });
  }
  const enrolmentToken = refusal.enrolmentToken!;
  const started = await client.startEnrolment(enrolmentToken, { signal });
  console.error(await formatEnrolment(started, process.stderr.columns));
  let question = 'First code that the app displays';
  for (;;) {
    const code = await askText(question);
    try {
      const { recoveryCodes } = await client.confirmEnrolment({ enrolmentToken, code }, { signal });
      await print(formatRecoveryCodes(recoveryCodes));
      return;
    } catch (error) {
      if (!isClientError(error, 'WRONG_SECOND_FACTOR')) throw error;
      question = 'The code is wrong. Check the clock of your phone, and type the next code';
    }
  }
}

/** The QR code is left out if the terminal is too narrow for it. */
async function formatEnrolment(
  { username, secret, uri }: StartedEnrolment,
  columns: number | undefined,
): Promise<string> {
  const qrCode = await drawQrCode(uri);
  const fits = columns === undefined || columns >= qrCode.width;
  return [
    'The server requires a second factor in addition to your password. Scan this code with an',
    'authenticator app on your phone, or type the secret into the app.',
    '',
    ...(fits ? [qrCode.text, ''] : []),
    escaped`  User    ${username}`,
    escaped`  Secret  ${secret}`,
    escaped`  URI     ${uri}`,
    '',
  ].join('\n');
}

/** Draws two modules per character: white on black, because apps cannot read inverted codes on a light terminal. */
async function drawQrCode(text: string): Promise<{ readonly text: string; readonly width: number }> {
  const { renderUnicodeCompact } = await import('uqr');
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n');
  const drawn = lines.map((line) => styleText(['bgBlack', 'whiteBright'], line, { stream: process.stderr }));
  return { text: drawn.join('\n'), width: lines[0]!.length };
}

function formatRecoveryCodes(codes: readonly string[]): string {
  return [
    'The second factor is set up. Store these recovery codes in a safe place. Each replaces one code of',
    'the app. You can read them only now:',
    '',
    ...codes.map((code) => escaped`  ${code}`),
    '',
  ].join('\n');
}
