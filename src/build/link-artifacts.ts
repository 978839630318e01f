import { sha256 } from '../kit/index.ts'
import type { Artifact } from '../release/index.ts'
import { compareText } from './compare-text.ts'

/** The import specifier of an artifact: this scheme, then its SHA-256. */
export const artifactScheme = 'waypost-artifact:'

/** Begins an artifact of an import cycle, which others import by an alias: a content cannot contain its own hash. */
const aliasMark = '/*waypost-alias:'

/** Returns the alias of an artifact; undefined if it is imported by its hash. */
export function readAlias(content: string): string | undefined {
  return content.startsWith(aliasMark) ? content.slice(aliasMark.length, content.indexOf('*/')) : undefined
}

/** A module before it gets its hash. */
export interface UnlinkedModule {
  readonly name: string
  /** Names of the imported modules, without duplicates. */
  readonly imports: readonly string[]
  /** Returns the text of the module with resolved imports. `header` is a separate first line, or empty. */
  write(resolve: (name: string) => string, header: string): string
}

/**
 * Names modules by the SHA-256 of their content, starting with those without imports, so that a hash covers all
 * imported modules. Modules that import each other in a cycle (a dynamic import and a static one back) do so by alias:
 * a hash of their texts with positions in place of names. The loader reads the alias from the first line of the
 * artifact.
 */
export function linkArtifacts(modules: readonly UnlinkedModule[]): Map<string, Artifact> {
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

function makeAliases(group: readonly UnlinkedModule[], resolve: (name: string) => string): Map<string, string> {
  const members = new Set(group.map(({ name }) => name))
  const blank = '0'.repeat(64)
  // esbuild's names contain folder names and must not influence the order.
  const skeleton = (module: UnlinkedModule) =>
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

/** Tarjan's strongly connected components, imported ones first: single modules or cycles. */
function findCycles(modules: readonly UnlinkedModule[]): UnlinkedModule[][] {
  const byName = new Map(modules.map((module) => [module.name, module]))
  const order = new Map<string, number>()
  const isOpen = new Set<string>()
  const open: UnlinkedModule[] = []
  const groups: UnlinkedModule[][] = []
  const visit = (module: UnlinkedModule): number => {
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
