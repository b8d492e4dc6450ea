/** The wire of Espalier as data. Depends on nothing, so that server, client and console can share it. */

export * from './bodies.ts';
export * from './close-codes.ts';
export * from './endpoints.ts';
export * from './journal-csv.ts';
export * from './openapi.ts';
export * from './refusals.ts';
export * from './shown-text.ts';
