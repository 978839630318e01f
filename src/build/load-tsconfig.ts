import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { BuildOptions } from 'esbuild'
import { nearestFile } from './nearest-file.ts'

/** What the tsconfig.json of a project says about its code, with the files that it extends. */
export interface Tsconfig {
  /** The options that the build follows. */
  readonly build: Pick<BuildOptions, 'tsconfigRaw' | 'conditions'>
  /** The patterns of `paths`. */
  readonly aliases: readonly string[]
  /** Options that change what code does and that the build does not follow. */
  readonly ignored: readonly string[]
  /** The files, relative to the root, including missing ones. */
  readonly files: readonly string[]
}

type Options = Readonly<Record<string, unknown>>

/** Options that are passed on. esbuild does not read the files itself, because a folder above could have one. */
const followed = [
  'experimentalDecorators',
  'useDefineForClassFields',
  'verbatimModuleSyntax',
  'jsx',
  'jsxFactory',
  'jsxFragmentFactory',
  'jsxImportSource',
]
const ignored = ['emitDecoratorMetadata', 'rootDirs', 'moduleSuffixes']
const definesFields = /^(?:es(?:next|20(?:2[2-9]|[3-9]\d)))$/i

/** @param root the real path of the project */
export function loadTsconfig(root: string): Tsconfig {
  const files: string[] = []
  const options = loadOptions(path.join(root, 'tsconfig.json'), files)
  const { target, paths, customConditions } = options
  const own = Object.fromEntries(followed.flatMap((name) => (name in options ? [[name, options[name]]] : [])))
  const compilerOptions = {
    target: 'esnext',
    useDefineForClassFields: typeof target !== 'string' || definesFields.test(target),
    verbatimModuleSyntax: true,
    ...own,
    ...(isRecord(paths) && { paths: relativize(root, paths) }),
  }
  const conditions = Array.isArray(customConditions) ? customConditions.map(String) : []
  return {
    build: {
      tsconfigRaw: JSON.stringify({ compilerOptions }),
      ...(conditions.length > 0 && { conditions: ['module', ...conditions] }), // others replace esbuild's own
    },
    aliases: isRecord(paths) ? Object.keys(paths) : [],
    ignored: ignored.filter((name) => options[name] !== undefined && options[name] !== false),
    files: files.map((file) => path.relative(root, file).split(path.sep).join('/')),
  }
}

/** Returns the options of a file over those that it extends. The targets of `paths` are absolute. */
function loadOptions(file: string, files: string[]): Options {
  if (files.includes(file)) return {}
  files.push(file)
  const { extends: bases, compilerOptions } = readTsconfig(file)
  const merged = [bases ?? []].flat().map((base) => {
    const target = typeof base === 'string' ? findBase(path.dirname(file), base) : undefined
    return target === undefined ? {} : loadOptions(target, files)
  })
  const own = isRecord(compilerOptions) ? compilerOptions : {}
  const { paths, baseUrl } = own
  const folder = path.resolve(path.dirname(file), typeof baseUrl === 'string' ? baseUrl : '.')
  const absolute = isRecord(paths) && { paths: mapTargets(paths, (target) => path.resolve(folder, target)) }
  return Object.assign({}, ...merged, own, absolute) as Options
}

/** Reads JSON with comments and trailing commas. `tsc` reports its errors. */
function readTsconfig(file: string): Options {
  try {
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
    const json = text
      .replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
      .replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1')
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function findBase(folder: string, name: string): string | undefined {
  const forms = (file: string) => [file, `${file}.json`, path.join(file, 'tsconfig.json')]
  if (/^\.|^\//.test(name) || path.isAbsolute(name)) {
    const file = path.resolve(folder, name)
    return forms(file).find((form) => form.endsWith('.json') && existsSync(form)) ?? file
  }
  return forms(name).flatMap((form) =>
    form.endsWith('.json') ? (nearestFile(folder, `node_modules/${form}`) ?? []) : [],
  )[0]
}

function relativize(root: string, paths: Options): Options {
  return mapTargets(paths, (target) => `./${path.relative(root, target).split(path.sep).join('/')}`)
}

function mapTargets(paths: Options, map: (target: string) => string): Options {
  return Object.fromEntries(
    Object.entries(paths).map(([pattern, targets]) => [
      pattern,
      Array.isArray(targets) ? targets.map((target) => map(String(target))) : [],
    ]),
  )
}

function isRecord(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
