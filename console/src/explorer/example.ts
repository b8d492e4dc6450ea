/** What an example of the explorer is, and how it is filled with what the viewer has. */

export interface Example {
  readonly id: string;
  readonly label: string;
  readonly group: ExampleGroup;
  readonly document: string;
  /** What the variables are, from what the viewer sees. */
  readonly variables?: (known: Known) => object;
  readonly forAdministrators?: true;
}

export type ExampleGroup = 'Read' | 'Change' | 'Follow' | 'Administrators';

export const exampleGroups: readonly ExampleGroup[] = ['Read', 'Change', 'Follow', 'Administrators'];

/** Ids to fill examples with; empty where there is none. */
export interface Known {
  readonly userId: string;
  readonly rootId: string;
  /** Of a folder at the top of the tree, and of another. */
  readonly folderId: string;
  readonly otherFolderId: string;
}

export const knownDocument = /* GraphQL */ `
  query ExplorerExamples {
    viewer {
      user {
        id
      }
    }
    folder {
      id
      folders(first: 2) {
        items {
          id
        }
      }
    }
  }
`;

export interface KnownAnswer {
  readonly viewer: { readonly user: { readonly id: string } };
  readonly folder: {
    readonly id: string;
    readonly folders: { readonly items: readonly { readonly id: string }[] };
  };
}

export function knownOf(answer: KnownAnswer | undefined): Known {
  const [first, second] = answer?.folder.folders.items ?? [];
  return {
    userId: answer?.viewer.user.id ?? '',
    rootId: answer?.folder.id ?? '',
    folderId: first?.id ?? '',
    otherFolderId: second?.id ?? '',
  };
}

/** As it is put into the editor. */
export function textOfExample(
  { document, variables }: Example,
  known: Known,
): { query: string; variables: string } {
  const lines = document.trim().split('\n');
  const indent = Math.min(...lines.slice(1).map((line) => line.search(/\S/)));
  return {
    query: [lines[0], ...lines.slice(1).map((line) => line.slice(indent))].join('\n') + '\n',
    variables: variables ? JSON.stringify(variables(known), null, 2) : '',
  };
}
