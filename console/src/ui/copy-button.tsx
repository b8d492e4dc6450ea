/** A small button that copies a text, and says so for a moment. */

import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { copyText } from './clipboard.ts';

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
