import type { DocumentOptions, ParseOptions, SchemaOptions } from 'yaml'

/** How definition files are parsed. */
export const yamlOptions: ParseOptions & DocumentOptions & SchemaOptions = {
  prettyErrors: false,
  schema: 'core',
  uniqueKeys: false,
  logLevel: 'error',
  customTags: [{ tag: '!include', resolve: (target: string) => target }],
}
