import type { JsonSchema } from '../../contract/index.ts'
import { generateSample, makeAccessRemover, withoutAccessIn, type SchemaRoot } from '../../schema/index.ts'
import type { Api } from './api.ts'
import type { Components } from './components.ts'
import { makeExampleDeriver } from './examples.ts'
import type { SharedParts } from './shared-parts.ts'

/** Shared by all operations of one document. */
export interface OperationSources {
  readonly api: Api
  readonly components: Components
  readonly operationIds: ReadonlyMap<string, string>
  readonly shared: SharedParts
  /** Returns an example of the author of a schema. */
  exampleOf(root: SchemaRoot): unknown
  /** Returns a generated example of a request. */
  sampleOf(schema: JsonSchema): unknown
}

/** Makes the functions that find examples. What they find is kept for the other operations. */
export function makeExamples({ schemas }: Api): Pick<OperationSources, 'exampleOf' | 'sampleOf'> {
  // Read-only properties are not part of a request.
  const change = { keyword: 'readOnly', instead: undefined } as const
  const sent = withoutAccessIn(schemas, change)
  const remove = makeAccessRemover(schemas, change)
  return {
    exampleOf: makeExampleDeriver(schemas),
    sampleOf: (schema) => generateSample(remove(schema), sent),
  }
}

/** Makes the Media Type Object of a schema. */
export function makeMedia(root: SchemaRoot, { components, exampleOf }: OperationSources, isRequest = false): object {
  const example = exampleOf(root)
  return { schema: components.write(root.schema, root, isRequest), ...(example === undefined ? {} : { example }) }
}
