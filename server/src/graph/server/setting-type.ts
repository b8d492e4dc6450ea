/** The graph's type Setting: what a node was started with, and where that came from. */

import type { Builder } from '../builder.ts';
import type { ShownSetting } from '../../shown-setting.ts';

const sources: Readonly<Record<ShownSetting['source'], string>> = {
  DEFAULT: 'It is not given.',
  ENVIRONMENT: 'In a variable of the environment.',
  FILE: 'In a file that a variable or a flag names.',
  COMMAND_LINE: 'By a flag.',
};

export function defineSetting(builder: Builder) {
  const Source = builder.enumType('SettingSource', {
    values: Object.fromEntries(
      Object.entries(sources).map(([name, description]) => [name, { description }]),
    ) as Record<ShownSetting['source'], { description: string }>,
  });

  return builder.objectRef<ShownSetting>('Setting').implement({
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The variable of the environment.' }),
      subject: t.exposeString('subject', { description: 'What it is about, among others: Network, Limits.' }),
      description: t.exposeString('description'),
      accepts: t.exposeString('accepts', { description: 'What a good value looks like.' }),
      value: t.exposeString('value', {
        nullable: true,
        description:
          'As it was written, without passwords; the default if it is not given. Null for a secret, and if there is neither.',
      }),
      default: t.exposeString('default', { nullable: true, description: 'Null if there is none.' }),
      source: t.expose('source', { type: Source }),
      givenBy: t.exposeString('givenBy', {
        nullable: true,
        description: 'The variable or flag that it was given by.',
      }),
      isSecret: t.exposeBoolean('isSecret', { description: 'Never shown.' }),
    }),
  });
}
