import type { Metafile } from 'esbuild'
import { outputNameOf, type Bundle } from './open-bundler.ts'
import { collectOutputs, keepOutputs, type SplitBundle } from './open-split-bundler.ts'
import { renameOutputs } from './rename-outputs.ts'

/** A bundle that was put together of several, and how outputs are named in it. */
export interface MergedBundle extends SplitBundle {
  /** The names of outputs by the names that esbuild gives them: importers of a shared file keep theirs. */
  readonly renamed: ReadonlyMap<string, string>
}

type Output = Metafile['outputs'][string]
type NamedOutput = readonly [name: string, output: Output]
type Outputs = Pick<Bundle, 'outputs' | 'metafile'>

/**
 * Replaces what was bundled again.
 * @param isReplaced whether an input was bundled again
 * @returns undefined if bundling everything could have another result
 */
export function mergePart(
  last: MergedBundle,
  part: SplitBundle,
  isReplaced: (file: string) => boolean,
): MergedBundle | undefined {
  const shared = [...part.shared].filter(([file]) => isReplaced(file))
  const own = keepUsed(part, [...part.entries.values(), ...shared.map(([, name]) => name)])
  const renamed = nameShared(last, own, new Set(shared.map(([file]) => file)))
  const named = renameOutputs(own, renamed)
  if (shared.some(([file]) => describeChunk(last, file) !== describeChunk(named, file))) return undefined
  const isRest = (file: string) => Object.hasOwn(last.metafile.inputs, file) && !isReplaced(file)
  for (const [name, { inputs }] of outputsByName(named)) {
    const files = Object.keys(inputs)
    const isNew = files.length > 0 && !files.some(isRest)
    if (!isNew && !isSame(last, named, name)) return undefined
  }
  const rest = [...last.entries].filter(([file]) => !part.entries.has(file)).map(([, name]) => name)
  const kept = keepUsed(last, [...rest, ...last.shared.values(), ...last.packages.values()])
  // The rest must not import what was replaced by something with another name.
  const isStale = ([name, { inputs }]: NamedOutput) => !named.outputs.has(name) && Object.keys(inputs).some(isReplaced)
  if (outputsByName(kept).some(isStale)) return undefined
  const added = [...named.outputs.keys()].map(
    (name) => [name, (isSame(last, named, name) ? last : named).outputs.get(name)!] as const,
  )
  const restInputs = Object.entries(last.metafile.inputs).filter(([file]) => !isReplaced(file))
  return {
    ...last,
    packages: new Map([...last.packages, ...part.packages]),
    renamed,
    outputs: new Map([...kept.outputs, ...added]),
    metafile: {
      inputs: { ...Object.fromEntries(restInputs), ...part.metafile.inputs },
      outputs: { ...kept.metafile.outputs, ...named.metafile.outputs },
    },
  }
}

/** Gives the chunks of shared files the names by which the rest imports them. */
function nameShared(last: MergedBundle, part: Outputs, files: ReadonlySet<string>): ReadonlyMap<string, string> {
  const names = new Map(last.renamed)
  for (const file of files) {
    const [before, after] = [findChunk(last, file)?.[0], findChunk(part, file)?.[0]]
    if (before === undefined || after === undefined) continue
    for (const [from, to] of names) if (to === before) names.delete(from)
    if (after !== before) names.set(after, before)
  }
  return names
}

function findChunk(bundle: Outputs, file: string): NamedOutput | undefined {
  return outputsByName(bundle).find(([, { inputs }]) => Object.hasOwn(inputs, file))
}

/** Describes what importers of a shared file depend on. */
function describeChunk(bundle: Outputs, file: string): string | undefined {
  const chunk = findChunk(bundle, file)
  if (chunk === undefined) return undefined
  const [name, { inputs, exports, imports }] = chunk
  return JSON.stringify([name, Object.keys(inputs).sort(), exports, imports.map((one) => one.path).sort()])
}

function isSame(one: Outputs, other: Outputs, name: string): boolean {
  const [first, second] = [one.outputs.get(name), other.outputs.get(name)]
  return first?.code.text === second?.code.text && first?.map.text === second?.map.text
}

function outputsByName({ metafile }: Outputs): readonly NamedOutput[] {
  return Object.entries(metafile.outputs).map(([file, output]) => [outputNameOf(file), output])
}

function keepUsed({ outputs, metafile }: Outputs, names: readonly string[]): Outputs {
  const used = collectOutputs(metafile.outputs, new Set(names.map((name) => `${name}.js`)))
  return {
    outputs: new Map([...outputs].filter(([name]) => used.has(name))),
    metafile: { ...metafile, outputs: keepOutputs(metafile.outputs, used) },
  }
}
