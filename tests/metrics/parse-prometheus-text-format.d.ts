/** The package has no types of its own. */
declare module 'parse-prometheus-text-format' {
  export interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: string;
  }
  export default function parse(text: string): Family[];
}
