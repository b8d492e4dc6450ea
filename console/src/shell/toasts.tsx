/** Short messages about finished actions, with Undo. They disappear after a while, unless the pointer or focus is on one. */

import { useEffect, useState, useSyncExternalStore } from 'react';
import { CopyAs } from '../ui/copy.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Name } from '../ui/text.tsx';
import { toasts, undo, type Toast } from '../actions/toasts.ts';

const displayMs = 9_000;
const icons = { done: 'check', note: 'edit', failure: 'warning' } as const;

export function Toasts() {
  const visible = useSyncExternalStore(toasts.subscribe, toasts.read);
  return (
    <section className="toasts" aria-label="Messages" data-react-aria-top-layer="true">
      {/* Always rendered, so that screen readers announce additions. */}
      <ol aria-live="polite" aria-relevant="additions">
        {visible.map((toast) => (
          <ToastItem key={toast.id} toast={toast} />
        ))}
      </ol>
    </section>
  );
}

function ToastItem({ toast }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  const { id, text, tone, call } = toast;
  useEffect(() => {
    if (isHeld || tone === 'failure') return;
    const timer = setTimeout(() => toasts.remove(id), displayMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, tone]);
  return (
    <li
      className={`toast ${tone}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={icons[tone]} />
      <p role={tone === 'failure' ? 'alert' : undefined}>
        <Name>{text}</Name>
      </p>
      {toast.undo && (
        <Button size="small" onPress={() => void undo(toast)}>
          Undo
        </Button>
      )}
      {call && <CopyAs call={call} />}
      <IconButton label="Close message" icon="close" onPress={() => toasts.remove(id)} />
    </li>
  );
}
