/**
 * Displays names from users, and texts from the server. Invisible characters can make a name look like another one, so they are
 * displayed as markers. A marked character has no effect on the text around it.
 */

import type { ReactNode } from 'react';

/** Scripts whose letters change their form at a joiner or non-joiner. */
const joiningScripts = [
  ...['Arabic', 'Syriac', 'Mandaic', 'Mongolian', 'Nko', 'Adlam', 'Hanifi_Rohingya', 'Phags_Pa'],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam'],
  ...['Sinhala', 'Khmer', 'Myanmar', 'Tibetan', 'Meetei_Mayek', 'Chakma', 'Balinese', 'Javanese'],
];
const joiningPattern = `[${joiningScripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
const emojiPattern = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;

/** Invisible characters at the places where scripts and emoji need them (after UAX #31 and UTS #51). */
const neededPattern = [
  // Between letters, or a joiner at the end of a word, which displays another form of the letter.
  String.raw`(?<=${joiningPattern}\p{M}*)(?:\u200C(?=${joiningPattern})|\u200D)`,
  String.raw`(?<=${emojiPattern})\u200D(?=\p{Extended_Pictographic})`,
  // The emoji or text form of a character, and keycaps.
  String.raw`(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]`,
  String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
  // Flags of regions, for example of Scotland.
  String.raw`(?<=\u{1F3F4}[\u{E0030}-\u{E007A}]*)[\u{E0030}-\u{E007A}](?=[\u{E0030}-\u{E007A}]*\u{E007F})`,
  String.raw`(?<=\u{1F3F4}[\u{E0030}-\u{E007A}]+)\u{E007F}`,
  // Variants of ideographs and of Mongolian letters, and syllables of old Hangul.
  String.raw`(?<=\p{Unified_Ideograph})[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\p{Script=Mongolian})[\u180B-\u180F]`,
  String.raw`(?<=[\u1100-\u11FF])[\u115F\u1160]|[\u115F\u1160](?=[\u1100-\u11FF])`,
].join('|');
const invisiblePattern = String.raw`[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\uFFF9-\uFFFB]`;
const hiddenPattern = new RegExp(`(?!${neededPattern})(${invisiblePattern})`, 'gu');
const hasInvisible = new RegExp(invisiblePattern, 'u');

/** Short and full names, as Unicode has them. */
const characterNames = new Map([
  [0xad, ['SHY', 'soft hyphen']],
  [0x34f, ['CGJ', 'combining grapheme joiner']],
  [0x61c, ['ALM', 'Arabic letter mark']],
  [0x200b, ['ZWSP', 'zero width space']],
  [0x200c, ['ZWNJ', 'zero width non-joiner']],
  [0x200d, ['ZWJ', 'zero width joiner']],
  [0x200e, ['LRM', 'left-to-right mark']],
  [0x200f, ['RLM', 'right-to-left mark']],
  [0x202a, ['LRE', 'left-to-right embedding']],
  [0x202b, ['RLE', 'right-to-left embedding']],
  [0x202c, ['PDF', 'pop directional formatting']],
  [0x202d, ['LRO', 'left-to-right override']],
  [0x202e, ['RLO', 'right-to-left override']],
  [0x2060, ['WJ', 'word joiner']],
  [0x2066, ['LRI', 'left-to-right isolate']],
  [0x2067, ['RLI', 'right-to-left isolate']],
  [0x2068, ['FSI', 'first strong isolate']],
  [0x2069, ['PDI', 'pop directional isolate']],
  [0x3164, ['HF', 'Hangul filler']],
  [0xfeff, ['BOM', 'zero width no-break space']],
]);

function describeCharacter(character: string): { readonly label: string; readonly description: string } {
  const code = character.codePointAt(0)!;
  const [short, full] = characterNames.get(code) ?? [];
  const hexadecimal = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return { label: short ?? hexadecimal, description: `${full ?? 'invisible character'} (${hexadecimal})` };
}

/** A name, or a sentence with names. */
export function Name({ children: text }: { children: string }): ReactNode {
  if (!hasInvisible.test(text)) return text;
  // The odd pieces are the separators: the hidden characters.
  return text.split(hiddenPattern).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const { label, description } = describeCharacter(piece);
    return (
      <span key={index} role="img" className="hidden-character" aria-label={description} title={description}>
        {label}
      </span>
    );
  });
}

/** For attributes, which cannot contain markers: “a[zero width space (U+200B)]b”. */
export function formatName(text: string): string {
  if (!hasInvisible.test(text)) return text;
  return text.replace(hiddenPattern, (character) => `[${describeCharacter(character).description}]`);
}

/** A text of the server with inline Markdown: code in backticks, and links. Links to pages of the repository are plain text. */
export function InlineMarkdown({ children: text }: { children: string }): ReactNode {
  return text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith('`')) return <code key={index}>{piece.slice(1, -1)}</code>;
    const [, label = '', target = ''] = /^\[(.*)\]\((.*)\)$/.exec(piece) ?? [];
    return target.startsWith('https://') ? (
      <a key={index} href={target}>
        {label}
      </a>
    ) : (
      label
    );
  });
}
