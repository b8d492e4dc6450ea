/** "Copy as": what is done here, said in GraphQL, curl or the command line, for a script. */

import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover, Text } from 'react-aria-components';
import { useState } from 'react';
import { textOf, type Call, type CopyForm } from '../actions/action.ts';
import { client } from '../session/client.ts';
import { copyText } from './clipboard.ts';
import { Icon } from './icons.tsx';

const forms: readonly { readonly id: CopyForm; readonly label: string; readonly needs?: string }[] = [
  { id: 'graphql', label: 'Copy as GraphQL' },
  { id: 'curl', label: 'Copy as curl', needs: 'with a token in ESPALIER_AUTH_TOKEN' },
  { id: 'cli', label: 'Copy as CLI', needs: 'after espalier login' },
];

export function CopyAs({ call }: { call: Call }) {
  const [told, setTold] = useState<string | null>(null);
  const copy = async (form: CopyForm) => {
    const isCopied = await copyText(textOf(form, call, client.url));
    setTold(isCopied ? 'Copied' : 'Not copied');
    setTimeout(() => setTold(null), 2_000);
  };
  return (
    <MenuTrigger>
      <AriaButton className="button quiet small copy-as">
        <Icon name={told === 'Copied' ? 'check' : 'copy'} />
        <span aria-live="polite">{told ?? 'Copy as…'}</span>
      </AriaButton>
      <Popover className="popover" placement="top end">
        <Menu className="menu" onAction={(form) => void copy(form as CopyForm)}>
          {forms.map(({ id, label, needs }) => (
            <MenuItem key={id} id={id} textValue={label} className="menu-item">
              <Text slot="label">{label}</Text>
              {needs !== undefined && (
                <Text slot="description" className="soft">
                  {needs}
                </Text>
              )}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
