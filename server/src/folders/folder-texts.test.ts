import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import {
  maxFolderNameLength as maxNameLength,
  maxFolderPropertyBytes as maxPropertyBytes,
} from '@espalier/contract';
import { type FolderTextsInput, toFolderName, toTexts, foldText, sortKey } from './folder-texts.ts';

const assertNameRefused = (name: string, message: RegExp) =>
  assert.throws(
    () => toFolderName(name),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(name),
  );

describe('toFolderName()', () => {
  test('keeps an ordinary name unchanged', () => {
    for (const name of [
      'Floor 2',
      'a',
      ' ',
      'Pläne & Skizzen',
      '日本',
      '👩‍🔧',
      '.',
      '..',
      'C:\\',
      '%2F',
      "it's",
    ]) {
      assert.equal(toFolderName(name), name);
    }
  });

  test('returns the same name for composed and decomposed letters', () => {
    assert.equal(toFolderName('Zu\u0308rich'), 'Z\u00fcrich');
    assert.equal(toFolderName('\u212b'), '\u00c5');
  });

  test('returns different names for letters that only look alike', () => {
    assert.notEqual(toFolderName('\u2460'), toFolderName('1'));
    assert.notEqual(toFolderName('\u0391'), toFolderName('A'));
  });

  test('rejects an empty name', () => {
    assertNameRefused('', /must not be empty/);
  });

  test('rejects a slash or a control character at any index', () => {
    const controls = [0x00, 0x09, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0x9f].map((code) =>
      String.fromCharCode(code),
    );
    for (const character of ['/', ...controls]) {
      for (const name of [character, `${character}a`, `a${character}`, `a${character}b`]) {
        assertNameRefused(name, /slash or a control character/);
      }
    }
  });

  test('rejects half a surrogate pair', () => {
    for (const name of ['\ud83d', 'a\udc00', '\udc00\ud83d']) assertNameRefused(name, /well-formed Unicode/);
  });

  test('accepts at most 255 characters, counted as code points of the composed form', () => {
    for (const character of ['a', 'ü', '日', '👋']) {
      const maxLengthName = character.repeat(maxNameLength);
      assert.equal(toFolderName(maxLengthName), maxLengthName);
      assertNameRefused(maxLengthName + character, /at most 255 characters/);
    }
    assert.equal(toFolderName('u\u0308'.repeat(maxNameLength)), 'ü'.repeat(maxNameLength));
    // U+0958 is excluded from composition: it becomes two code points.
    assertNameRefused('\u0958'.repeat(128), /at most 255 characters/);
  });

  test('either rejects a text or returns a valid name that it does not change again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        let name;
        try {
          name = toFolderName(text);
        } catch (error) {
          assert.ok(error instanceof Refusal && error.code === 'BAD_INPUT');
          return;
        }
        assert.equal(toFolderName(name), name);
        assert.equal(name, text.normalize('NFC'));
        assert.doesNotMatch(name, /[/\p{Cc}]/u);
        assert.ok(name !== '' && [...name].length <= maxNameLength);
      }),
    );
  });
});

const assertRefused = (input: FolderTextsInput, message: RegExp) =>
  assert.throws(
    () => toTexts(input),
    (error) => error instanceof Refusal && error.code === 'BAD_INPUT' && message.test(error.message),
    JSON.stringify(input).slice(0, 100),
  );

const nested = (levels: number): unknown => (levels === 0 ? 1 : { inner: nested(levels - 1) });

describe('toTexts()', () => {
  test('returns only the texts in the input', () => {
    assert.deepEqual(toTexts({}), {});
    assert.deepEqual(toTexts({ title: undefined, icon: 'x' }), { icon: 'x' });
  });

  test('returns null for a text that is null or empty', () => {
    const none = { title: null, icon: null, description: null, properties: null };
    assert.deepEqual(toTexts(none), none);
    assert.deepEqual(toTexts({ title: '', icon: '', description: '', properties: {} }), none);
  });

  test('returns composed texts', () => {
    const input = { title: 'E\u0301', icon: 'e\u0301', description: 'u\u0308' };
    assert.deepEqual(toTexts(input), { title: 'É', icon: 'é', description: 'ü' });
  });

  test('counts lengths in characters, not in bytes or surrogates', () => {
    for (const field of ['title', 'icon'] as const) {
      assert.equal(toTexts({ [field]: '👩'.repeat(255) })[field], '👩'.repeat(255));
      assertRefused({ [field]: '👩'.repeat(256) }, new RegExp(`${field} of a folder has at most 255`));
      assertRefused({ [field]: 'x'.repeat(256) }, /at most 255/);
    }
    assert.equal(toTexts({ description: '👩'.repeat(10_000) }).description?.length, 20_000);
    assertRefused({ description: 'x'.repeat(10_001) }, /description of a folder has at most 10000/);
  });

  test('rejects control characters, except line breaks and tabs in a description', () => {
    for (const control of ['\n', '\t', '\0', '\u007f', '\u0085']) {
      assertRefused({ title: `a${control}b` }, /title .* control characters/);
      assertRefused({ icon: `a${control}b` }, /icon .* control characters/);
    }
    assert.equal(toTexts({ description: 'a\r\n\tb' }).description, 'a\r\n\tb');
    for (const control of ['\0', '\u001b', '\u007f', '\u0085']) {
      assertRefused({ description: `a${control}b` }, /description .* control characters/);
    }
  });

  test('rejects half a surrogate pair in texts and anywhere in properties', () => {
    const half = '\ud83d';
    for (const field of ['title', 'icon', 'description']) {
      assertRefused({ [field]: `a${half}` }, new RegExp(`${field} .* well-formed`));
    }
    for (const properties of [{ a: half }, { [half]: 1 }, { a: [{ b: [half] }] }]) {
      assertRefused({ properties }, /`properties` must be well-formed/);
    }
  });

  test('returns properties as the text of a JSON object', () => {
    assert.equal(toTexts({ properties: { b: 1, a: [null, 'x'] } }).properties, '{"b":1,"a":[null,"x"]}');
    for (const properties of [[], [1], 'x', 1, true]) assertRefused({ properties }, /must be a JSON object/);
  });

  test('rejects a number that JSON cannot represent', () => {
    assertRefused({ properties: { a: [JSON.parse('1e400')] } }, /too large/);
  });

  test('accepts properties of at most 16 KiB and 32 levels', () => {
    const filler = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    assert.equal(toTexts({ properties: filler(maxPropertyBytes) }).properties?.length, maxPropertyBytes);
    assertRefused({ properties: filler(maxPropertyBytes + 1) }, /at most 16384 bytes/);
    assertRefused({ properties: { a: 'é'.repeat(maxPropertyBytes / 2) } }, /at most 16384 bytes/);
    assert.ok(toTexts({ properties: nested(32) }).properties);
    assertRefused({ properties: nested(33) }, /nested deeper than 32 levels/);
  });
});

const texts = fc.string({ unit: 'grapheme' });

describe('foldText()', () => {
  test('ignores case, accents and different encodings of the same letter', () => {
    const same = [
      ['Étage', 'étage', 'E\u0301TAGE', 'etage'],
      ['Zürich', 'ZURICH', 'Zu\u0308rich'],
      ['ﬁn', 'FIN'],
      ['STRAẞE', 'Straße', 'strasse'],
      ['Ⅳ', 'iv'],
      ['①', '1'],
      ['Ｆｕｌｌ', 'full'],
      ['Å', '\u212b', 'a'],
      ['ΟΔΟΣ', 'οδος', 'οδοσ'],
      ['İstanbul', 'istanbul', 'ıstanbul'],
      ['Straße', 'STRASSE', 'strasse'],
    ];
    for (const [first, ...others] of same) {
      for (const other of others) assert.equal(foldText(other), foldText(first!), other);
    }
  });

  test('returns different texts for different letters', () => {
    for (const [one, other] of [
      ['ß', 's'],
      ['ø', 'o'],
      ['а', 'a'],
      ['日', '本'],
    ]) {
      assert.notEqual(foldText(one!), foldText(other!));
    }
  });

  test('keeps spaces, punctuation and digits', () => {
    assert.equal(foldText(' Floor 10 – 50% _\\'), ' floor 10 – 50% _\\');
  });

  test('does not change a text that is already folded', () => {
    fc.assert(fc.property(texts, (text) => assert.equal(foldText(foldText(text)), foldText(text))));
  });

  test('folds composed and decomposed texts to the same text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(foldText(text.normalize('NFD')), foldText(text.normalize('NFC')));
      }),
    );
  });
});

const compare = (a: string, b: string) => Buffer.compare(sortKey(a), sortKey(b));
const assertOrder = (...names: string[]) => assert.deepEqual(names.toReversed().sort(compare), names);

/**
 * Any name that a folder may have; letters, digits and accents are frequent, so that the generated names often sort close together.
 */
const names = (maxLength: number) =>
  fc
    .oneof(
      fc.string({
        unit: fc.constantFrom(...'aAbäÄàzZ019 .ßñ\u0301'),
        minLength: 1,
        maxLength: maxLength,
      }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: maxLength }),
    )
    .map(asName)
    .filter((name) => name !== undefined);

function asName(text: string): string | undefined {
  try {
    return toFolderName(text);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return undefined;
  }
}

describe('sortKey()', () => {
  test('orders numbers by value at any index in a name', () => {
    assertOrder('Floor 1', 'Floor 2', 'Floor 10', 'Floor 10a', 'Floor 11', 'Floor 100');
    assertOrder('2 b', '10 a', '10 b');
    assertOrder('v1.2.9', 'v1.2.10', 'v1.10.1');
    assertOrder('1', '2', '12', 'a');
  });

  test('orders any two numbers of up to 200 digits by value', () => {
    const number = fc
      .integer({ min: 1, max: 200 })
      .chain((digits) => fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) - 1n }));
    fc.assert(
      fc.property(number, number, fc.constantFrom('', 'Floor ', 'é'), (a, b, before) => {
        assert.equal(compare(`${before}${a}`, `${before}${b}`), a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  test('uses leading zeros only to order names that are otherwise equal', () => {
    assertOrder('file 007', 'file 8', 'file 0009');
    assertOrder('file 01 a', 'file 1 b', 'file 01 c');
    assert.notEqual(compare('file 01', 'file 1'), 0);
    assertOrder('0', '1', 'a');
    assert.notEqual(compare('0', '00'), 0);
  });

  test('uses case and accents only to order names that are otherwise equal', () => {
    assertOrder('apple', 'Apple', 'banana', 'Banana', 'cherry');
    assertOrder('resume a', 'résumé b', 'Resume c');
    assertOrder('a', 'A', 'ä', 'b');
    assertOrder('zebra', 'Zurich', 'Zürich', 'zürich z');
  });

  test('orders a name before longer names with the same beginning', () => {
    fc.assert(
      fc.property(names(40), names(40), (name, more) => {
        // If `more` begins with a combining mark or a digit, it changes the last letter or number of the name instead of continuing
        // the name.
        fc.pre(!/^[\p{M}\d]/u.test(more) && asName(name + more) === name + more);
        assert.equal(compare(name, name + more), -1);
      }),
    );
  });

  test('makes different keys for different names', () => {
    fc.assert(
      fc.property(names(100), names(100), (a, b) => {
        assert.equal(compare(a, b) === 0, a === b);
        assert.equal(compare(a, b), -compare(b, a) + 0);
      }),
    );
  });

  test('gives the same order for any initial order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(names(20), { maxLength: 20 }), (input) => {
        assert.deepEqual(input.toSorted(compare), input.toReversed().sort(compare));
      }),
    );
  });

  test('makes keys of at most 1,024 bytes for any name', () => {
    fc.assert(fc.property(names(255), (name) => assert.ok(sortKey(name).length <= 1_024)));
    for (const character of ['a', 'A', '1', 'Ä', '日', '👋', '𐐀', 'Ⱥ', 'İ', '\u0301']) {
      assert.ok(sortKey(toFolderName(character.repeat(255))).length <= 1_024, character);
    }
  });

  test('includes the last of 255 characters in the key', () => {
    for (const character of ['a', 'A', 'ä', '日', '👋', '𐐀', 'Ⱥ', 'a1']) {
      const start = [...character.repeat(254)].slice(0, 254).join('');
      assertOrder(`${start}a`, `${start}b`);
    }
  });

  test('treats a digit of another script as a letter', () => {
    assertOrder('Floor 9', 'Floor a', 'Floor ١٠', 'Floor ٢');
  });
});
