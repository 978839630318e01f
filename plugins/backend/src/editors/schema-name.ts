import { schemaEditor } from '../strings/schema-editor.ts'

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** Says why a schema cannot have a name. */
export function problemOfName(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return schemaEditor.create.taken(name)
  return name === '' || namePattern.test(name) ? undefined : schemaEditor.create.invalid
}
