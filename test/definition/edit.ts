import { setInDefinition, type Editing, type Writable } from '../../src/definition/index.ts'

/** Sets or removes one value. */
export function edit(
  editing: Editing,
  keys: readonly string[],
  value: Writable | undefined,
): ReadonlyMap<string, string> {
  const changed = [...setInDefinition(editing, keys, value)]
  return new Map(changed.map(([file, text]) => [file, text ?? 'deleted']))
}
