import type { PartialMessage, PluginBuild } from 'esbuild'
import { transformSource } from './transform-source.ts'

/** Marks an esbuild warning as one about `process.env`, for `checkWarnings`. */
export interface ProcessEnvWarning {
  readonly processEnv: true
}

const marker = '__waypost_process_env__'
// `define` does not replace an imported or destructured `process`. Comments are already removed, so only strings could
// match wrongly.
const others = [
  /\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from\s*"(?:node:)?process"/g,
  /\{[^{}]*\benv\b[^{}]*\}\s*=\s*process\b/g,
]
const imported = /\bprocess\.env\b/g

/** Finds where a source file reads `process.env`, ignoring comments and strings. */
export async function findProcessEnv(
  esbuild: PluginBuild['esbuild'],
  file: string,
  source: string,
): Promise<PartialMessage[]> {
  if (!/\bprocess\b/.test(source) || !/\benv\b/.test(source)) return []
  const define = { 'process.env': marker, 'globalThis.process.env': marker }
  const transformed = await transformSource(esbuild, { file, source }, { define })
  if (transformed === undefined) return []
  const { code, locate } = transformed
  const patterns = /from "(?:node:)?process"/.test(code) ? [...others, imported] : others
  return [new RegExp(marker, 'g'), ...patterns]
    .flatMap((pattern) => [...code.matchAll(pattern)])
    .flatMap(({ index }) => {
      const location = locate(index, /^(?:globalThis\.)?process\??\.env(?:\.\w+)?/)
      const detail: ProcessEnvWarning = { processEnv: true }
      return location ? [{ text: 'process.env', location, detail }] : []
    })
}
