/** What stands for a tree that is not read yet, or could not be; and that a part of it could not be. */

import { useSyncExternalStore, type ReactNode } from 'react';
import { problemOf } from '../graph/problem.ts';
import { Button } from '../ui/button.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import type { Tree } from './tree.ts';

export function TreeState({ tree: { store, loader }, children }: { tree: Tree; children: ReactNode }) {
  useSyncExternalStore(store.subscribe, store.version);
  const failure = useSyncExternalStore(loader.subscribe, loader.failure);
  const retry = () => loader.retry();
  if (!store.root)
    return failure === null ? (
      <Loading label="Loading the tree" lines={7} />
    ) : (
      <Failed error={failure} retry={retry} />
    );
  return (
    <>
      {children}
      {failure !== null && (
        <div className="tree-failure" role="alert">
          <p>Not all could be read. {problemOf(failure).text}</p>
          <Button size="small" icon="refresh" onPress={retry}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}
