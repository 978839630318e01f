import assert from 'node:assert/strict'
import type { Definition, LoadOptions, Method } from '../../src/definition/index.ts'
import { compileDefinition } from './compile-definition.ts'
import { loadFiles, showProblem } from './project.ts'

/** Returns the definition of a valid project whose schemas all compile. */
export async function load(files: Readonly<Record<string, string>>, options?: LoadOptions): Promise<Definition> {
  const { definition, diagnostics } = await loadFiles({ 'src/a.ts': '', ...files }, options)
  assert.deepEqual(diagnostics.map(showProblem), [])
  assert.ok(definition)
  compileDefinition(definition)
  return definition
}

export const loadYaml = (yaml: string): Promise<Definition> => load({ 'waypost.yml': yaml })

/** Returns the only method of a route at `/a/:id` with the given keys. */
export async function loadMethod(method: string, rest = ''): Promise<Method> {
  const yaml = `routes:\n  /a/:id:\n    methods:\n      POST: { action: src/a.ts, ${method} }\n${rest}`
  return (await loadYaml(yaml)).routes[0]!.methods[0]!
}
