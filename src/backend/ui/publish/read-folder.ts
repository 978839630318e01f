/** The definition files in a chosen folder. Paths are relative to it. */
export interface FolderFiles {
  readonly texts: ReadonlyMap<string, string>
  /** How many files are skipped: code and everything else. */
  readonly skipped: number
  readonly tooLarge: readonly string[]
}

const maxBytes = 1024 * 1024
const mainFile = 'waypost.yml'
const foreign = /^(package(-lock)?|npm-shrinkwrap|[tj]sconfig(\..*)?)\.json$/i
const included = /!include\s+["']?([^\s"'#,}\]]+)/g

/** A file in a chosen folder. */
type FolderFile = File & { readonly webkitRelativePath: string }

/** Reads the definition files among the files of a folder: waypost.yml, what it includes, and migrations. */
export async function readFolder(files: readonly FolderFile[]): Promise<FolderFiles> {
  const named = new Map(files.map((file) => [pathOf(file), file]))
  const root = rootOf([...named.keys()])
  const texts = new Map<string, string>()
  const tooLarge: string[] = []
  const add = async (path: string): Promise<void> => {
    const file = named.get(root + path)
    if (file === undefined || texts.has(path) || !canBeDefinition(path)) return
    if (file.size > maxBytes) return void tooLarge.push(path)
    const text = await file.text()
    texts.set(path, text)
    for (const [, target = ''] of text.matchAll(included)) await add(resolve(path, target))
  }
  await add(mainFile)
  const inside = [...named.keys()].filter((path) => path.startsWith(root)).map((path) => path.slice(root.length))
  for (const path of inside)
    if (/^resources\/.*\.(ya?ml|json)$/.test(path) || /^migrations\/[^/]+\/([^/]+\.yml|tables\.json)$/.test(path))
      await add(path)
  return { texts, skipped: files.length - texts.size - tooLarge.length, tooLarge }
}

function pathOf(file: FolderFile): string {
  return file.webkitRelativePath === '' ? file.name : file.webkitRelativePath
}

/** The topmost folder with a waypost.yml. */
function rootOf(paths: readonly string[]): string {
  const mains = paths.filter((path) => path === mainFile || path.endsWith(`/${mainFile}`))
  const [first = mainFile] = mains.toSorted((a, b) => a.length - b.length)
  return first.slice(0, -mainFile.length)
}

function canBeDefinition(path: string): boolean {
  const steps = path.split('/')
  return (
    /\.(ya?ml|json)$/.test(path) &&
    !steps.some((step) => step.startsWith('.') || step === 'node_modules') &&
    !foreign.test(steps.at(-1)!)
  )
}

function resolve(from: string, target: string): string {
  const steps = from.split('/').slice(0, -1)
  for (const step of (target.split('#')[0] ?? '').split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '.' && step !== '') steps.push(step)
  }
  return steps.join('/')
}
