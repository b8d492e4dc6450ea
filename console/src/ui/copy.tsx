/** A small button that copies a text, and says so for a moment. */

import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { MenuTrigger, Button as AriaButton, Popover, Menu, MenuItem, Text } from 'react-aria-components';
import { type CopyForm, type Call, formatCall } from '../actions/action.ts';
import { client } from '../session/client.ts';
import { Icon } from './icons.tsx';

/** `label` says what is copied: "Copy path". */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const [told, setTold] = useState<string | null>(null);
  useEffect(() => {
    if (told === null) return;
    const timer = setTimeout(() => setTold(null), 2_000);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async () => setTold((await copyText(text)) ? 'Copied' : 'Not copied');
  return (
    <span className="copy-button">
      <IconButton label={label} icon={told === 'Copied' ? 'check' : 'copy'} onPress={() => void copy()} />
      <span className="visually-hidden" role="status">
        {told}
      </span>
    </span>
  );
}

/** Copying to the clipboard, also on a page without TLS, which has no clipboard of its own. */

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  // Inside an open dialog, if there is one: what is outside cannot take the focus.
  (document.querySelector('[role=dialog]') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}

const forms: readonly { readonly id: CopyForm; readonly label: string; readonly needs?: string }[] = [
  { id: 'graphql', label: 'Copy as GraphQL' },
  { id: 'curl', label: 'Copy as curl', needs: 'with a token in ESPALIER_AUTH_TOKEN' },
  { id: 'cli', label: 'Copy as CLI', needs: 'after espalier login' },
];

export function CopyAs({ call }: { call: Call }) {
  const [told, setTold] = useState<string | null>(null);
  const copy = async (form: CopyForm) => {
    const isCopied = await copyText(formatCall(form, call, client.url));
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
