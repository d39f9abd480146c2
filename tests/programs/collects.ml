(* collects.ml - allocates from deep calls, so that the collector walks over their frames. *)
let[@inline never] leaf i = string_of_int i
let[@inline never] rec build n = if n = 0 then [] else let s = leaf n in s :: build (n - 1)
let[@inline never] rec rounds n total =
  if n = 0 then total else rounds (n - 1) (total + List.length (build 400))
let () =
  Printf.printf "%d\n" (rounds 60 0);
  Gc.compact ();
  Printf.printf "%d\n" (List.length (build 100))
