#!/usr/bin/env node
// `npm create waypost my-api` runs `waypost init my-api`, in this process. Must parse on any Node since 12.17, like the
// launcher of Waypost, which says which Node it needs.
import module from 'module'
import path from 'path'
import url from 'url'

const waypost = module.createRequire(import.meta.url).resolve('waypost/package.json')
const launcher = path.join(path.dirname(waypost), 'bin/run.js')
process.argv.splice(1, 1, launcher, 'init')
void import(url.pathToFileURL(launcher).href)
