/** Copies texts to the clipboard: a function, a button for one text, and the "copy as" menu for a call. */

import { useEffect, useState } from 'react';
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover, Text } from 'react-aria-components';
import { formatCall, type Call, type CopyFormat } from '../actions/action.ts';
import { client } from '../session/client.ts';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icons.tsx';

/** Returns whether the text was copied. Falls back to a selection if the clipboard API is missing or denied. */
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
  // While a dialog is open, outer elements cannot take the focus.
  (document.querySelector('[role=dialog]') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}

const outcomeMs = 2_000;

/** Returns a function that copies a text, and the outcome for a short time after each copy. */
function useCopyOutcome() {
  // A new object for each copy, so that the time starts again.
  const [outcome, setOutcome] = useState<{ readonly isCopied: boolean } | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), outcomeMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  return {
    copy: async (text: string) => setOutcome({ isCopied: await copyText(text) }),
    icon: outcome?.isCopied ? 'check' : 'copy',
    text: outcome && (outcome.isCopied ? 'Copied' : 'Not copied'),
  } as const;
}

/** `label` names the copied text: "Copy path". */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const outcome = useCopyOutcome();
  return (
    <span className="copy-button">
      <IconButton label={label} icon={outcome.icon} onPress={() => void outcome.copy(text)} />
      <span className="visually-hidden" role="status">
        {outcome.text}
      </span>
    </span>
  );
}

/** A button with text. Its text changes to the outcome for a short time. */
export function CopyTextButton({ label, text }: { label: string; text: string }) {
  const outcome = useCopyOutcome();
  return (
    <Button size="small" icon={outcome.icon} onPress={() => void outcome.copy(text)}>
      <span aria-live="polite">{outcome.text ?? label}</span>
    </Button>
  );
}

const forms: readonly { readonly id: CopyFormat; readonly label: string; readonly requirement?: string }[] = [
  { id: 'graphql', label: 'Copy as GraphQL' },
  { id: 'curl', label: 'Copy as curl', requirement: 'requires a token in ESPALIER_AUTH_TOKEN' },
  { id: 'cli', label: 'Copy as CLI', requirement: 'requires espalier login' },
];

export function CopyAs({ call }: { call: Call }) {
  const outcome = useCopyOutcome();
  const copy = (format: CopyFormat) => void outcome.copy(formatCall(format, call, client.url));
  return (
    <MenuTrigger>
      <AriaButton className="button quiet small copy-as">
        <Icon name={outcome.icon} />
        <span aria-live="polite">{outcome.text ?? 'Copy as…'}</span>
      </AriaButton>
      <Popover className="popover" placement="top end">
        <Menu className="menu" onAction={(format) => copy(format as CopyFormat)}>
          {forms.map(({ id, label, requirement }) => (
            <MenuItem key={id} id={id} textValue={label} className="menu-item">
              <Text slot="label">{label}</Text>
              {requirement !== undefined && (
                <Text slot="description" className="soft">
                  {requirement}
                </Text>
              )}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
