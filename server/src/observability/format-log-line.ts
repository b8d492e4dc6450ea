/** Formats a JSON log line for a terminal. Control characters are escaped. */

import { pino } from 'pino';
import { escapeControls } from '@espalier/contract';

interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  /** Only in lines of requests. */
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly [fact: string]: unknown;
}

/** The fields that are formatted separately, or are the same in every line of a process. */
const passedOver = ['level', 'time', 'pid', 'hostname', 'msg', 'err'];
const ofRequest = ['method', 'route', 'status', 'ms'];

export function formatLogLine(text: string): string {
  const line = JSON.parse(text) as LogLine;
  const level = (pino.levels.labels[line.level] ?? '').toUpperCase().padEnd(5);
  const isRequest = line.msg === 'request';
  const said = isRequest ? `${formatRequest(line)} ${line.status} in ${line.ms} ms` : (line.msg ?? '');
  const left = isRequest ? [...passedOver, ...ofRequest] : passedOver;
  const facts = Object.entries(line)
    .filter(([name]) => !left.includes(name))
    .map(([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${localTime(line.time)} ${level} ${escapeControls(said + facts.join(''))}\n${formatError(line['err'])}`;
}

/** The method is `none` if the request could not be parsed or did not arrive. */
function formatRequest({ method, route = '(no route)' }: LogLine): string {
  return method === 'none' ? '(no request)' : `${method} ${route}`;
}

/** Takes the error as pino serializes it: type, message, stack and other fields. */
function formatError(error: unknown): string {
  if (error === undefined || error === null) return '';
  const { stack, message } = error as { stack?: string; message?: string };
  const text = stack ?? message ?? JSON.stringify(error);
  return `${text.split(/\r?\n/).map(escapeControls).join('\n').replace(/^/gm, '    ')}\n`;
}

function localTime(at: number): string {
  const date = new Date(at);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}
