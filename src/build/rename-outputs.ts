import type { Metafile } from 'esbuild'
import { sha256 } from '../kit/index.ts'
import { outputNameOf, type Bundle } from './open-bundler.ts'

type Outputs = Pick<Bundle, 'outputs' | 'metafile'>

/** Gives outputs other names of the same length, also in their importers. */
export function renameOutputs({ outputs, metafile }: Outputs, names: ReadonlyMap<string, string>): Outputs {
  if (names.size === 0) return { outputs, metafile }
  const rename = (name: string) => names.get(name) ?? name
  const renamePath = (file: string) => file.slice(0, -outputNameOf(file).length) + rename(outputNameOf(file))
  const importsOf = new Map(
    Object.entries(metafile.outputs).map(([file, { imports }]) => [outputNameOf(file), imports]),
  )
  const isAffected = (name: string) => importsOf.get(name)?.some((one) => names.has(outputNameOf(one.path))) === true
  return {
    outputs: new Map(
      [...outputs].map(([name, { code, map }]) => {
        if (!isAffected(name)) return [rename(name), { code, map }]
        const text = [...names].reduce((all, [from, to]) => all.replaceAll(`./${from}`, `./${to}`), code.text)
        return [rename(name), { code: { path: code.path, contents: Buffer.from(text), text, hash: sha256(text) }, map }]
      }),
    ),
    metafile: {
      inputs: metafile.inputs,
      outputs: renameKeys(metafile.outputs, renamePath),
    },
  }
}

function renameKeys(outputs: Metafile['outputs'], renamePath: (file: string) => string): Metafile['outputs'] {
  return Object.fromEntries(
    Object.entries(outputs).map(([file, output]) => {
      const imports = output.imports.map((one) => ({ ...one, path: renamePath(one.path) }))
      return [renamePath(file), { ...output, imports }]
    }),
  )
}
