/** The bar of a view as another user, and the message after the view has ended. */

import { useCommands } from '../actions/palette-commands.ts';
import { toasts } from '../actions/toasts.ts';
import { leaveView, takeEndedView, type View } from '../session/view-as.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Name } from '../ui/text.tsx';

export function ViewFrame({ view }: { view: View }) {
  const stop = () => leaveView({ isStopped: true });
  useCommands([{ id: 'stopView', label: `Stop viewing as ${view.username}`, group: 'View', run: stop }]);
  return (
    <section className="view-frame" aria-label="View as another user">
      <Icon name="eye" />
      <p>
        You see the tree as{' '}
        <strong>
          <Name>{view.username}</Name>
        </strong>
        . Read only.
      </p>
      <Button size="small" onPress={stop}>
        Stop
      </Button>
    </section>
  );
}

export function reportEndedView(): void {
  const username = takeEndedView();
  if (username === null) return;
  toasts.add({
    tone: 'note',
    text: `The view as ${username} has ended. A view ends after 15 minutes, or when your rights or the rights of the other user change.`,
  });
}
