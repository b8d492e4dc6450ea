/** The wire contract of Espalier as data. It has no dependencies, so server, client and console can share it. */

export * from './bodies.ts';
export * from './close-codes.ts';
export * from './csv.ts';
export * from './device-name.ts';
export * from './endpoints.ts';
export * from './folder-texts.ts';
export * from './journal-csv.ts';
export * from './openapi.ts';
export * from './refusals.ts';
export * from './escaped-text.ts';
