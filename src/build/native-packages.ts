import type { Metafile } from 'esbuild'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { readJsonFile } from '../kit/index.ts'

export interface NativePackage {
  /** Its folder, in the form of the paths of the metafile. */
  readonly folder: string
  /** A file of the package in the bundle. */
  readonly file: string
  readonly reason: string
}

/**
 * Finds packages in a bundle whose native code is not imported but located at run time. Optional and peer dependencies
 * are omitted, because their dependents work without them.
 */
export function findNativePackages(root: string, inputs: Metafile['inputs']): readonly NativePackage[] {
  const manifests = new Map<string, PackageManifest>()
  const manifestOf = (folder: string): PackageManifest => {
    const known = manifests.get(folder) ?? readManifest(path.join(root, folder))
    manifests.set(folder, known)
    return known
  }
  const needed = new Map<string, string>()
  for (const [importer, { imports }] of Object.entries(inputs)) {
    const from = packageFolder(importer)
    for (const { path: file, external } of imports) {
      const folder = external ? undefined : packageFolder(file)
      if (folder === undefined || folder === from || needed.has(folder)) continue
      if (from !== undefined && !isNeeded(manifestOf(from), nameOf(folder))) continue
      needed.set(folder, file)
    }
  }
  return [...needed].flatMap(([folder, file]) => {
    const native = findNative(path.join(root, folder), manifestOf(folder))
    return native === undefined
      ? []
      : [{ folder, file, reason: `the package "${nameOf(folder)}" has native code (${native})` }]
  })
}

/** Returns what indicates that a package has native code. */
export function findNativeCode(folder: string): string | undefined {
  return findNative(folder, readManifest(folder))
}

interface PackageManifest {
  readonly dependencies?: object
  readonly optionalDependencies?: object
  readonly peerDependencies?: object
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly gypfile?: boolean
}

function packageFolder(file: string): string | undefined {
  return /^(.*(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function readManifest(folder: string): PackageManifest {
  try {
    return readJsonFile(path.join(folder, 'package.json')) as PackageManifest
  } catch {
    return {}
  }
}

function isNeeded({ dependencies = {}, optionalDependencies = {}, ...rest }: PackageManifest, name: string): boolean {
  if (Object.hasOwn(optionalDependencies, name)) return false
  const isPeer =
    Object.hasOwn(rest.peerDependencies ?? {}, name) && rest.peerDependenciesMeta?.[name]?.optional !== true
  return isPeer || Object.hasOwn(dependencies, name)
}

const platform = /(?:^|[-/_])(?:linux|darwin|win32|freebsd|android)[-_.](?:x64|x86_64|ia32|arm64|arm|aarch64)\b/

/** Returns what indicates native code: a platform package, build instructions, or a prebuilt add-on. */
function findNative(folder: string, { optionalDependencies = {}, gypfile }: PackageManifest): string | undefined {
  const one = Object.keys(optionalDependencies).find((name) => platform.test(name))
  if (one !== undefined) return `platform package ${one}`
  const names = listNames(folder)
  const found = names.find((name) => name === 'binding.gyp' || name.endsWith('.node') || name === 'prebuilds')
  return found ?? (gypfile === true ? '"gypfile" in its package.json' : undefined)
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}
