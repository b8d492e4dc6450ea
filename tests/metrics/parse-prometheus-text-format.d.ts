/** The package has no types of its own. */
declare module 'parse-prometheus-text-format' {
  export interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: string;
  }
  // eslint-disable-next-line import-x/no-default-export
  export default function parse(text: string): Family[];
}
