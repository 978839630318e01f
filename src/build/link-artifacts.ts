import { sha256 } from '../kit/index.ts'
import type { Artifact } from '../release/index.ts'
import { compareText } from './compare-text.ts'

/** How an artifact imports another one: the scheme, then the SHA-256 of that one. */
export const artifactScheme = 'waypost-artifact:'

/** Begins an artifact that others of a cycle know by an alias, for no name can contain the hash of what contains it. */
const aliasMark = '/*waypost-alias:'

/** A module that is not yet named by its content. */
export interface Linkable {
  readonly name: string
  /** Names of the other modules that it imports, each once. */
  readonly imports: readonly string[]
  /**
   * The module's text, given what to import for each of `imports`. `header` is a line of its own at the beginning, empty
   * for none.
   */
  write(resolve: (name: string) => string, header: string): string
}

/**
 * Names modules by the SHA-256 of their content, from the bottom of the graph up, so that a name covers everything below
 * it. Modules that import one another in a circle (a dynamic import and a static one back) do so by alias: a hash of
 * their texts with positions in place of names. The loader learns an alias from the first line of its artifact.
 */
export function linkArtifacts(modules: readonly Linkable[]): Map<string, Artifact> {
  const linked = new Map<string, Artifact>()
  const resolve = (name: string): string => linked.get(name)!.hash
  for (const group of findCycles(modules)) {
    const aliases = group.some(({ imports }) => group.some(({ name }) => imports.includes(name)))
      ? makeAliases(group, resolve)
      : new Map<string, string>()
    const written = group.map((module): [string, Artifact] => {
      const alias = aliases.get(module.name)
      const header = alias === undefined ? '' : `${aliasMark}${alias}*/`
      const content = module.write((name) => artifactScheme + (aliases.get(name) ?? resolve(name)), header)
      return [module.name, { hash: sha256(content), content }]
    })
    for (const [name, artifact] of written) linked.set(name, artifact)
  }
  return linked
}

function makeAliases(group: readonly Linkable[], resolve: (name: string) => string): Map<string, string> {
  const members = new Set(group.map(({ name }) => name))
  const blank = '0'.repeat(64)
  // esbuild's own names contain names of folders and must not decide the order.
  const skeleton = (module: Linkable) =>
    module.write((name) => artifactScheme + (members.has(name) ? blank : resolve(name)), '')
  const ordered = group
    .map((module) => ({ module, text: skeleton(module) }))
    .sort((a, b) => compareText(a.text, b.text))
    .map(({ module }) => module)
  const position = new Map(ordered.map(({ name }, index) => [name, String(index).padStart(64, '0')]))
  const texts = ordered.map((module) =>
    module.write((name) => artifactScheme + (position.get(name) ?? resolve(name)), ''),
  )
  const whole = sha256(texts.map(sha256).join())
  return new Map(ordered.map(({ name }) => [name, sha256(`${whole}:${position.get(name)}`)]))
}

/** Tarjan's strongly connected components: each module alone or with those of its circle, imported ones first. */
function findCycles(modules: readonly Linkable[]): Linkable[][] {
  const byName = new Map(modules.map((module) => [module.name, module]))
  const order = new Map<string, number>()
  const isOpen = new Set<string>()
  const open: Linkable[] = []
  const groups: Linkable[][] = []
  const visit = (module: Linkable): number => {
    const { name, imports } = module
    const own = order.size
    let lowest = own
    order.set(name, own)
    isOpen.add(name)
    open.push(module)
    for (const next of imports) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(byName.get(next)!))
      else if (isOpen.has(next)) lowest = Math.min(lowest, order.get(next)!)
    }
    if (lowest === own) {
      const group = open.splice(open.indexOf(module))
      for (const member of group) isOpen.delete(member.name)
      groups.push(group)
    }
    return lowest
  }
  for (const module of modules) if (!order.has(module.name)) visit(module)
  return groups
}
