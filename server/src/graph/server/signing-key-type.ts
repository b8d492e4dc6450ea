/** The graph's type SigningKey. Nothing of a key itself is ever in it. */

import type { KeyState, ShownKey } from '../../sessions/key-states.ts';
import type { Builder } from '../builder.ts';

const states: Readonly<Record<Uppercase<KeyState>, { value: KeyState; description: string }>> = {
  PUBLISHED: { value: 'published', description: 'It verifies already, and will sign.' },
  SIGNS: { value: 'signs', description: 'It signs.' },
  VERIFIES: { value: 'verifies', description: 'It verifies what it has signed before.' },
};

export function defineSigningKey(builder: Builder) {
  const State = builder.enumType('SigningKeyState', { values: states });

  return builder.objectRef<ShownKey>('SigningKey').implement({
    description: 'A key that signs or verifies auth tokens.',
    fields: (t) => ({
      id: t.exposeID('id'),
      state: t.field({ type: State, resolve: ({ state }) => state }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      signsFrom: t.expose('signsFrom', { type: 'DateTime' }),
      neededUntil: t.expose('neededUntil', {
        type: 'DateTime',
        nullable: true,
        description: 'When nothing that it signed can be in use any more; null while it signs, and before.',
      }),
      sealedWith: t.exposeString('sealedWith', {
        nullable: true,
        description: 'Which master key seals it; null if none does.',
      }),
    }),
  });
}
