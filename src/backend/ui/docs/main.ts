import '@mantine/core/styles.css'
import '../styles.css'
import '../build.css'
import '../portal/portal.css'
import './docs.css'
import { setNonce } from 'get-nonce'
import { nonce } from '../config.ts'
import { showDocs } from './app.tsx'

setNonce(nonce) // for react-remove-scroll, which inserts styles

showDocs(document.querySelector('#root')!)
