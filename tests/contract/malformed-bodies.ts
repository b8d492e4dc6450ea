/** Bodies that are malformed for every endpoint that needs these fields, as [description, bytes, headers]. */

type MalformedBody = readonly [title: string, body: string | Uint8Array, headers: Record<string, string>];

const json = { 'content-type': 'application/json' };

export function malformedBodies(...fields: string[]): MalformedBody[] {
  const good = Object.fromEntries(fields.map((field) => [field, 'x']));
  const withField = (field: string, value: unknown) => JSON.stringify({ ...good, [field]: value });
  return [
    ['no body', '', {}],
    ['an empty JSON body', '', json],
    ['white space', '  ', json],
    ['text that is not JSON', 'username=x', json],
    ['half an object', '{"', json],
    ['two objects', `${JSON.stringify(good)}${JSON.stringify(good)}`, json],
    ['a comment in JSON', `${JSON.stringify(good)} // x`, json],
    ['null', 'null', json],
    ['a string', '"x"', json],
    ['a number', '1', json],
    ['an array', JSON.stringify([good]), json],
    ['an empty object', '{}', json],
    ['bytes that are not UTF-8', Buffer.from('{"username":"\xff","password":"\xff"}', 'latin1'), json],
    ['UTF-16', Buffer.from(JSON.stringify(good), 'utf16le'), json],
    ['ten thousand brackets', '['.repeat(10_000), json],
    ['an unknown field of 65 levels', nested(good, 64), json],
    ['an unknown field of 5,000 levels', nested(good, 5_000), json],
    ['an unknown field of 100,000 levels, which is over 16 KiB', nested(good, 100_000), json],
    ['no content type', JSON.stringify(good), {}],
    ['a form', new URLSearchParams(good).toString(), { 'content-type': 'application/x-www-form-urlencoded' }],
    ['JSON sent as a form', JSON.stringify(good), { 'content-type': 'application/x-www-form-urlencoded' }],
    ['JSON sent as text', JSON.stringify(good), { 'content-type': 'text/plain' }],
    ['JSON sent as another JSON type', JSON.stringify(good), { 'content-type': 'application/vnd.api+json' }],
    ['another charset', JSON.stringify(good), { 'content-type': 'application/json; charset=latin1' }],
    ['an invalid content type', JSON.stringify(good), { 'content-type': 'json' }],
    ...fields.flatMap((field): MalformedBody[] => [
      [`no ${field}`, JSON.stringify({ ...good, [field]: undefined }), json],
      [
        `${field} in capital letters`,
        JSON.stringify({ ...good, [field]: undefined, [field.toUpperCase()]: 'x' }),
        json,
      ],
      [`null as ${field}`, withField(field, null), json],
      [`a number as ${field}`, withField(field, 1), json],
      [`true as ${field}`, withField(field, true), json],
      [`a list as ${field}`, withField(field, ['x']), json],
      [`an object as ${field}`, withField(field, { toString: 'x' }), json],
      [`${field} inherited from __proto__`, `{"__proto__":${JSON.stringify(good)}}`, json],
    ]),
  ];
}

/** Returns the fields plus one more that contains nested lists of this depth. */
export function nested(fields: object, levels: number): string {
  return JSON.stringify({ ...fields, more: '…' }).replace('"…"', '['.repeat(levels) + ']'.repeat(levels));
}
