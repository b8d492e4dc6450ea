/**
 * Catches errors of one screen, so that the rest of the page keeps working. After an upgrade of the server, the files of a
 * screen may be missing. Reloading the page helps in both cases.
 */

import { Component, type ReactNode } from 'react';
import { Failed } from '../ui/states.tsx';

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
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
