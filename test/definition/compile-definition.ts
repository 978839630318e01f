import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../../src/contract/index.ts'
import { useExactFormats } from '../../src/kit/index.ts'
import type { Definition } from '../../src/definition/index.ts'

/** Compiles all schemas of a definition like a server. Throws errors that would stop that server. */
export function compileDefinition({ schemas, routes, events }: Definition): (name: string, value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false })
  addFormats.default(ajv)
  useExactFormats(ajv)
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, `schema:///${name}`)
  const places = routes.flatMap(({ methods }) =>
    methods.flatMap(({ params, query, request, responses }) => [params, query, request, ...Object.values(responses)]),
  )
  const inPlace = [...places, ...Object.values(events).map(({ schema }) => schema)]
  for (const schema of inPlace) if (schema !== undefined) ajv.compile(schema as Exclude<JsonSchema, boolean>)
  for (const name of Object.keys(schemas)) ajv.getSchema(`schema:///${name}`)
  return (name, value) => ajv.validate(`schema:///${name}`, value)
}
