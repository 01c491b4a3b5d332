/** The flags of `npm start`. */
export type Options = {
  /** The data folder. The default is `CARDEA_DATA`, then `.cardea`. */
  readonly data: string | undefined;
  /** Whether the folder is removed at the end. Free ports are used unless ports are named. */
  readonly temp: boolean;
  readonly port: number | undefined;
  /** Whether mailbox and banner work as on loopback even if other machines can connect. */
  readonly shareDevMailbox: boolean;
  readonly help: boolean;
};

export const USAGE = `Usage: npm start [-- options]

  --data DIR   keep everything in DIR (default: CARDEA_DATA, else .cardea)
  --temp       keep nothing: a folder that is removed at the end, and free ports
  --port N     port of the API (default: PORT, else 8080)
  --share-dev-mailbox
               show everybody's mail at /dev/mailbox, and the password here, though HOST is
               not loopback: whoever can connect can become anybody (in production: never)
  --help       show this
`;

const PORT_MAX = 65_535;

/** Returns the options, or a description of what is wrong with the flags. */
export function readOptions(args: readonly string[]): Options | { readonly wrong: string } {
  const options: { -readonly [Name in keyof Options]: Options[Name] } = {
    data: undefined,
    temp: false,
    port: undefined,
    shareDevMailbox: false,
    help: false,
  };
  const rest = args.flatMap((arg) => splitAtEquals(arg));
  while (rest.length > 0) {
    const flag = rest.shift();
    switch (flag) {
      case '--temp':
        options.temp = true;
        break;
      case '--share-dev-mailbox':
        options.shareDevMailbox = true;
        break;
      case '--help':
        options.help = true;
        break;
      case '--data':
        options.data = rest.shift();
        if (options.data === undefined) return { wrong: '--data needs a folder' };
        break;
      case '--port':
        options.port = portOf(rest.shift());
        if (options.port === undefined) return { wrong: '--port needs a number from 1 to 65535' };
        break;
      default:
        return { wrong: `unknown option ${String(flag)}` };
    }
  }
  if (options.temp && options.data !== undefined)
    return { wrong: '--temp and --data exclude each other' };
  return options;
}

const splitAtEquals = (arg: string): readonly string[] => {
  const [flag, ...value] = arg.split('=');
  return arg.startsWith('--') && value.length > 0 ? [flag ?? '', value.join('=')] : [arg];
};

function portOf(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= PORT_MAX ? port : undefined;
}
