/** The frame around every screen: navigation, top bar, messages and palette. */

import { Suspense, useCallback, useEffect, useState, Component, type ReactNode } from 'react';
import { useLocation, navigate, Link } from '../router.tsx';
import { screens, type Screen } from '../screens.tsx';
import { listUnsaved } from '../session/session-data.ts';
import { useSession, useViewer } from '../session/session.tsx';
import { signInSegment, readRequestedPath } from '../session/single-sign-on.ts';
import { currentView } from '../session/view-as.ts';
import { Button } from '../ui/button.tsx';
import { Logo } from '../ui/icons.tsx';
import { Empty, Loading, NoAccess, Failed } from '../ui/states.tsx';
import { Name } from '../ui/text.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Keys, useShellKeys } from './shortcut-keys.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Toasts } from './toasts.tsx';
import { reportEndedView, ViewFrame } from './view-frame.tsx';
import { useLive, type LiveStatus } from '../graph/live.tsx';
import { ActionDialog } from '../ui/dialog.tsx';

export function Shell() {
  const { parts } = useLocation();
  const [overlay, setOverlay] = useState<'palette' | 'shortcuts' | 'sign-out' | null>(null);
  const { signOut } = useSession();
  const openPalette = useCallback(() => setOverlay('palette'), []);
  const openShortcuts = useCallback(() => setOverlay('shortcuts'), []);
  const requestSignOut = useCallback(
    () => (listUnsaved().length > 0 ? setOverlay('sign-out') : void signOut()),
    [signOut],
  );
  const close = useCallback(() => setOverlay(null), []);
  const segment = parts[0];
  const isStart = segment === undefined || segment === signInSegment;
  const screen = screens.find((each) => each.segment === segment);

  useEffect(() => {
    if (isStart) navigate(readRequestedPath() ?? '/folders', { replace: true });
  }, [isStart]);
  useEffect(() => {
    document.title = screen ? `${screen.label} · Espalier` : 'Espalier';
  }, [screen]);
  useEffect(reportEndedView, []);
  useShellKeys({ openPalette, openShortcuts });

  return (
    <div className={currentView ? 'shell viewed' : 'shell'}>
      <a className="skip" href="#screen">
        Skip to content
      </a>
      {currentView && <ViewFrame view={currentView} />}
      <TopBar openPalette={openPalette} onSignOut={requestSignOut} />
      <Navigation current={segment} />
      <div className="screen" id="screen" tabIndex={-1}>
        <ErrorBoundary key={segment}>
          <Suspense fallback={<Loading lines={6} />}>
            {screen ? <ScreenContent screen={screen} /> : isStart ? <Loading /> : <NotFound />}
          </Suspense>
        </ErrorBoundary>
      </div>
      {overlay === 'palette' && (
        <Palette onClose={close} onShortcuts={openShortcuts} onSignOut={requestSignOut} />
      )}
      {overlay === 'sign-out' && <SignOutDialog names={listUnsaved()} onClose={close} />}
      {overlay === 'shortcuts' && <Shortcuts onClose={close} />}
      <Toasts />
    </div>
  );
}

interface TopBarProps {
  readonly openPalette: () => void;
  readonly onSignOut: () => void;
}

function TopBar({ openPalette, onSignOut }: TopBarProps) {
  return (
    <header className="top-bar">
      <Link to="/folders" className="brand" aria-label="Espalier">
        <Logo />
        <span>Espalier</span>
      </Link>
      <div className="palette-opener">
        <Button icon="search" onPress={openPalette}>
          <span className="palette-hint">Search or run…</span>
          <span aria-hidden="true">
            <Keys of="Ctrl K" />
          </span>
        </Button>
      </div>
      <Connection />
      <AccountMenu onSignOut={onSignOut} />
    </header>
  );
}

/** The account page also lists these, for the viewer. */
const accountLists = ['sessions', 'sign-ins', 'api-keys'];

function ScreenContent({ screen: { segment, isForAdministrators, label, Component } }: { screen: Screen }) {
  const { isAdministrator } = useViewer();
  if (segment === 'account' && currentView) {
    return (
      <main className="page">
        <h1 className="visually-hidden">{label}</h1>
        <NoAccess>Stop the view to open your account.</NoAccess>
      </main>
    );
  }
  if (isForAdministrators && !isAdministrator) {
    return (
      <main className="page">
        <h1 className="visually-hidden">{label}</h1>
        <NoAccess>
          “{label}” is only for administrators. Ask an administrator for access.
          {accountLists.includes(segment) && (
            <>
              {' '}
              Your own {segment === 'api-keys' ? label : label.toLowerCase()} are on{' '}
              <Link to="/account">your account page</Link>.
            </>
          )}
        </NoAccess>
      </main>
    );
  }
  return <Component />;
}

function NotFound() {
  return (
    <main className="page">
      <h1 className="visually-hidden">Not found</h1>
      <Empty icon="search" title="There is no such page">
        <p>
          <Link to="/folders">Go to the folders</Link>
        </p>
      </Empty>
    </main>
  );
}

const texts: Readonly<Record<LiveStatus, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Offline',
};

function Connection() {
  const { status } = useLive();
  return (
    <span className={`connection ${status}`} role="status">
      <span className="dot" aria-hidden="true" />
      {texts[status]}
    </span>
  );
}

interface SignOutDialogProps {
  /** Names of the folders or fields with unsaved text. */
  readonly names: readonly string[];
  readonly onClose: () => void;
}

const maxNames = 3;

function SignOutDialog({ names, onClose }: SignOutDialogProps) {
  const { signOut } = useSession();
  const quotedNames = names.slice(0, maxNames).map((name) => `“${name}”`);
  const rest = names.length - quotedNames.length;
  return (
    <ActionDialog
      title="Sign out without saving?"
      verb="Sign out"
      isDanger
      onSubmit={signOut}
      onClose={onClose}
    >
      <p>
        Your changes to{' '}
        <Name>{listFormat.format(rest > 0 ? [...quotedNames, `${rest} more`] : quotedNames)}</Name> are not
        saved. They will be lost when you sign out.
      </p>
    </ActionDialog>
  );
}

const listFormat = new Intl.ListFormat('en');

class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <main className="page">
        <h1 className="visually-hidden">Error</h1>
        <Failed error={this.state.error} retry={() => location.reload()} />
      </main>
    );
  }
}
