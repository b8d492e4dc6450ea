/**
 * Keeps a defect of one screen from taking the page with it. Also what a screen is made of may be there no more, after an
 * upgrade of the server: loading the page anew helps with both.
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
        <h1 className="visually-hidden">Defect</h1>
        <Failed error={this.state.error} retry={() => location.reload()} />
      </main>
    );
  }
}
