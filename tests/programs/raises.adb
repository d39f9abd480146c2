--  raises.adb - Ada exceptions over frames of its own; built with -static-libgcc and stripped.
with Ada.Text_IO;

procedure Raises is
   Deep : exception;
   Caught : Natural := 0;

   procedure Descend (N : Natural) is
   begin
      if N = 0 then
         raise Deep;
      end if;
      Descend (N - 1);
      Caught := Caught + 1_000;
   end Descend;
begin
   for I in 1 .. 20 loop
      begin
         Descend (I);
      exception
         when Deep => Caught := Caught + 1;
      end;
   end loop;
   Ada.Text_IO.Put_Line ("caught" & Caught'Image);
end Raises;
