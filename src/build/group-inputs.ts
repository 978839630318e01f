import type { Metafile } from 'esbuild'

/**
 * Divides the inputs of a bundle into groups without imports between them, so that each group can be bundled
 * separately. Imports of files that are split off do not count.
 * @returns a function that returns the group of an input, named by one of its files
 */
export function groupInputs(inputs: Metafile['inputs'], isSplit: (file: string) => boolean): (file: string) => string {
  const parents = new Map<string, string>()
  const groupOf = (file: string): string => {
    let group = file
    for (let parent = parents.get(group); parent !== undefined; parent = parents.get(group)) group = parent
    if (group !== file) parents.set(file, group) // path compression
    return group
  }
  for (const [file, { imports }] of Object.entries(inputs)) {
    for (const { path, external } of imports) {
      const group = groupOf(file)
      const other = external || isSplit(path) ? group : groupOf(path)
      if (other !== group) parents.set(other, group)
    }
  }
  return groupOf
}
