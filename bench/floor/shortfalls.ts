/** Why an aim is not reached, where it is known: by what profiles and other races have shown. */

const reading =
  'Most of what it takes beyond the floor is SQLite, which writes the answer in one statement: the race bound-{} shows raw node:http with that ' +
  'statement and nothing else, and so the most that can be reached. The rest is the token, the rights and the request itself ' +
  '(docs/decisions/0031-whole-answers.md).';
const onPostgres =
  'Ours sends the same statements and waits as often; what it adds are the plan, and the rows made into an answer, which the floor has ready.';
const onAMillion =
  'The same pages of the same indexes are read, one level deeper. Rounds of the same thing differ by more than what is missing.';

const known: Readonly<Record<string, string>> = {
  root: reading,
  children: reading,
  levels: reading,
  page: reading,
  refresh:
    'Beside the update and the signature that the floor has as well, a spent token is recorded, so that whoever steals one is found ' +
    'out: one more row, in the same commit, with its index.',
  login:
    'The race bound-login shows raw node:http that reads the user, verifies, syncs one session and signs one token, and nothing else: it is not ' +
    'nearer to the hash alone than ours. Here that takes 11 to 15 ms, a third of what the target was set by (34 ms, with an older library), and leaves ' +
    'nothing else next to the core: what takes 0.6 ms when it is done again and again takes 1.3 to 1.6 ms between hashes. Without counting failed ' +
    'logins at all it would be 0.015 better (docs/decisions/0031-whole-answers.md).',
  create:
    'Ours has the mutation read by graphql-js, and looks in the same transaction at the parent, the rights and the name before it writes; the floor has ' +
    'its rows ready and checks nothing. What a synced commit takes differs from round to round by more than what is missing.',
  verify: 'Headers are judged, the body is parsed and the token looked up; the floor looks at nothing.',
  unique: 'Ours pays for budgets, rights and the database; graphql-js walks over objects in memory.',
  'postgres-root': onPostgres,
  'postgres-children': onPostgres,
  'postgres-levels': onPostgres,
  'postgres-page': onPostgres,
  'million-root': onAMillion,
  'million-children': onAMillion,
  'million-levels': onAMillion,
  'million-page': onAMillion,
  workers:
    'Both share one core here, and what is next to it: code and data of the one are gone when the other has had its turn. With a core for each, they are not.',
  memory:
    '52 MB of it are the program of Node, shared by all that run it; 11 MB what C allocates, most of the rest the heap of V8. Half of the limit for young ' +
    'objects (--max-semi-space-size=4) would save 3 MB and is not set: a busy server would pay for it.',
};

export function whyShort(name: string): string {
  return known[name]?.replace('{}', name) ?? 'Not known yet.';
}
